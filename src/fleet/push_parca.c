/* Writes requests for Parca, and reads its answers: see push_parca.h. The messages are those of
 * parca.profilestore.v1alpha1: WriteRawRequest {series = 2}, RawProfileSeries {labels = 1, samples = 2}, LabelSet
 * {labels = 1}, Label {name = 1, value = 2}, RawSample {raw_profile = 1}. */
#include "config.h"
#include "fleet/push_parca.h"

#include "base/json.h"
#include "base/leb128.h"

#include <stdlib.h>

#define FRAME_HEAD    5    /* bytes before a frame of gRPC-Web: flags, and a size of 32 bits in network order */
#define FRAME_TRAILER 0x80 /* flag: the frame has the lines that gRPC sends after the body */

/* Calls add() for each label of the series. */
#define EACH_LABEL(add, to, parcel)                                                                                    \
	do {                                                                                                           \
		add(to, "__name__", "memory");                                                                         \
		add(to, "service", (parcel)->service);                                                                 \
		add(to, "host", (parcel)->host);                                                                       \
		if (*(parcel)->build_id)                                                                               \
			add(to, "build_id", (parcel)->build_id);                                                       \
	} while (0)

static void add_base64(struct buf *out, const unsigned char *data, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		const size_t rest = size - i;
		const uint32_t bits = (uint32_t)data[i] << 16 | (rest > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
				      (rest > 2 ? data[i + 2] : 0);

		buf_add_char(out, digits[bits >> 18]);
		buf_add_char(out, digits[bits >> 12 & 63]);
		buf_add_char(out, rest > 1 ? digits[bits >> 6 & 63] : '=');
		buf_add_char(out, rest > 2 ? digits[bits & 63] : '=');
	}
}

static void json_add_label(struct buf *out, const char *name, const char *value)
{
	if (out->data[out->size - 1] == '}')
		buf_add_char(out, ',');
	buf_printf(out, "{\"name\":\"%s\",\"value\":", name);
	json_add_string(out, value);
	buf_add_char(out, '}');
}

void parca_add_json(struct buf *body, const struct push_parcel *parcel)
{
	buf_add_str(body, "{\"series\":[{\"labels\":{\"labels\":[");
	EACH_LABEL(json_add_label, body, parcel);
	buf_add_str(body, "]},\"samples\":[{\"raw_profile\":\"");
	add_base64(body, parcel->profile, parcel->size);
	buf_add_str(body, "\"}]}]}");
}

/* Appends a field of protobuf that has a length. */
static void add_field(struct buf *out, unsigned number, const void *data, size_t size)
{
	unsigned char *const head = buf_room(out, 1 + LEB128_MAX);

	head[0] = (unsigned char)(number << 3 | 2);
	out->size += (size_t)(leb128_put(head + 1, size) - head);
	buf_add(out, data, size);
}

static void message_add_label(struct buf *labels, const char *name, const char *value)
{
	struct buf label = {0};

	add_field(&label, 1, name, strlen(name));
	add_field(&label, 2, value, strlen(value));
	add_field(labels, 1, label.data, label.size);
	buf_free(&label);
}

void parca_add_web(struct buf *body, const struct push_parcel *parcel)
{
	struct buf labels = {0}, sample = {0}, series = {0}, request = {0};

	EACH_LABEL(message_add_label, &labels, parcel);
	add_field(&sample, 1, parcel->profile, parcel->size);
	add_field(&series, 1, labels.data, labels.size);
	add_field(&series, 2, sample.data, sample.size);
	add_field(&request, 2, series.data, series.size);
	buf_add_char(body, 0);
	for (int shift = 24; shift >= 0; shift -= 8)
		buf_add_char(body, (char)(request.size >> shift));
	buf_add(body, request.data, request.size);
	buf_free(&labels);
	buf_free(&sample);
	buf_free(&series);
	buf_free(&request);
}

void parca_read_trailer(const unsigned char *body, size_t size, char *to, size_t room)
{
	while (size >= FRAME_HEAD) {
		const size_t length = (size_t)body[1] << 24 | (size_t)body[2] << 16 | (size_t)body[3] << 8 | body[4];
		const bool is_trailer = body[0] & FRAME_TRAILER;

		body += FRAME_HEAD;
		size -= FRAME_HEAD;
		if (length > size)
			return;
		const size_t end = strlen(to);

		if (is_trailer && end < room)
			snprintf(to + end, room - end, "%.*s\n", (int)length, (const char *)body);
		body += length;
		size -= length;
	}
}

int parca_grpc_status(const char *lines)
{
	const char *const found = strcasestr(lines, "grpc-status:");
	const char *const value = found ? found + strlen("grpc-status:") : "";
	char *end;
	const unsigned long number = strtoul(value, &end, 10);

	return end > value && number <= INT32_MAX ? (int)number : -1;
}

bool parca_is_passing(int grpc_status)
{
	/* DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, UNAVAILABLE */
	return grpc_status == 4 || grpc_status == 8 || grpc_status == 10 || grpc_status == 14;
}
