/* Reads the rtrace binary format: the handshake, and the sequence of packets in both dialects. rtrace_read_packet.c
 * parses the packets. */
#include "config.h"
#include "trace/rtrace/rtrace_read.h"

#include <stdlib.h>
#include <string.h>

#define PACKET_END 0 /* the input ends between two packets, or a followed file does not grow */

static bool rtrace_detect(const unsigned char *data, size_t size)
{
	return size && data[0] == RTRACE_MAGIC;
}

static void rtrace_read_end(struct reader *reader)
{
	struct rtrace_reader *s = reader->state;

	buf_free(&s->text);
	buf_free(&s->call_text);
	buf_free(&s->arg_text);
	free(s->frames);
	free(s->baseline);
	free(s->args);
}

static bool rtrace_is_compat(const struct reader *reader)
{
	return ((const struct rtrace_reader *)reader->state)->compat;
}

static bool rtrace_read_is_known(uint32_t type)
{
	switch (type) {
	case RTRACE_PINF:
	case RTRACE_MINF:
	case RTRACE_RESR:
	case RTRACE_MMAP:
	case RTRACE_CTXR:
	case RTRACE_CALL:
	case RTRACE_BTRC:
	case RTRACE_ARGS:
	case RTRACE_HINF:
	case RTRACE_FILE:
	case RTRACE_OCFG:
	case RTRACE_NLIB:
	case RTRACE_THRD:
	case RTRACE_NOTE:
	case RTRACE_BLID:
	case RTRACE_SCAN:
	case RTRACE_LOST:
	case RTRACE_CENS:
	case RTRACE_RESI:
	case RTRACE_USEC:
	case RTRACE_NTIM:
	case RTRACE_ATCH:
		return true;
	}
	return false;
}

/* Returns true if this may be the type of a packet, known or unknown: it consists of letters, digits and '_'. */
static bool rtrace_read_is_type(uint32_t type)
{
	for (unsigned i = 0; i < 4; i++) {
		const char c = (char)(type >> 8 * i);

		if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'))
			return false;
	}
	return true;
}

/* Returns the type at `p`. On big-endian machines sp-rtrace writes the letters of a type in reverse order. */
static uint32_t get_type(const struct rtrace_reader *s, const unsigned char *p)
{
	const uint32_t type = RTRACE_TYPE(p[0], p[1], p[2], p[3]);
	const uint32_t reversed = __builtin_bswap32(type);

	return s->big_endian && !rtrace_read_is_known(type) && rtrace_read_is_known(reversed) ? reversed : type;
}

static const char *type_text(uint32_t type, char text[8])
{
	memcpy(text, (char[]){(char)type, (char)(type >> 8), (char)(type >> 16), (char)(type >> 24), 0}, 5);
	return text;
}

static int rtrace_read_head(struct reader *reader, struct packet *packet)
{
	const struct rtrace_reader *s = reader->state;
	const unsigned char *p = reader->data + reader->start;

	packet->type = get_type(s, s->old ? p + 4 : p);
	packet->size = get_dword(s, s->old ? p : p + 4);
	packet->known = rtrace_read_is_known(packet->type);
	if (packet->known || rtrace_read_is_type(packet->type)) {
		if (!s->old)
			return 1;
		if (packet->size < 4)
			return reader_damage(reader, 0, "a packet's size is %u, less than the 4 bytes of its type",
					     packet->size);
		packet->size -= 4;
		return 1;
	}
	if (p[0] == RTRACE_MAGIC)
		return reader_damage(reader, 0, "a second trace begins here; split the file");
	return reader_damage(reader, 0, "no packet has the type %02x %02x %02x %02x", p[0], p[1], p[2], p[3]);
}

static int cut_off_packet(struct reader *reader, const struct packet *packet)
{
	char within[32] = "a packet", type[8];

	if (packet) {
		memcpy(within, "a ", 3);
		strcat(within, type_text(packet->type, type));
		strcat(within, " packet");
	}
	return reader_cut_off(reader, within);
}

/* Reads the head of the next packet and, if its type is known, its data into the buffer. Returns 1, PACKET_END, or a
 * negative errno. */
static int packet_peek(struct reader *reader, struct packet *packet)
{
	const struct rtrace_reader *s = reader->state;
	int status;

	/* If a followed trace pauses while a call waits for its stack, return the call as it is, because it may have no
	 * stack. In the compat dialect every call has a stack, which sp-rtrace may write later than the call, so go on
	 * waiting until the stack has come. */
	reader->may_pause = s->has_call && (!s->compat || s->call.has_frames);
	const size_t available = reader_fill(reader, RTRACE_HEAD);

	reader->may_pause = false;
	if (available < RTRACE_HEAD && !reader->ended)
		return PACKET_END;
	if (!available)
		return reader_end(reader);
	if (available < RTRACE_HEAD)
		return cut_off_packet(reader, NULL);
	status = rtrace_read_head(reader, packet);
	if (status < 0 || !packet->known)
		return status;
	if (packet->size > RTRACE_READ_MAX) {
		char type[8];

		return reader_damage(reader, 0, "a %s packet says that it has %u bytes, which no such packet has",
				     type_text(packet->type, type), packet->size);
	}
	if (reader_fill(reader, RTRACE_HEAD + packet->size) < RTRACE_HEAD + packet->size)
		return cut_off_packet(reader, packet);
	packet->p = reader->data + reader->start + RTRACE_HEAD;
	packet->end = packet->p + packet->size;
	return 1;
}

/* Returns true for packets that the reader skips: packets of unknown types, and OCFG and NLIB. These two have a meaning
 * only while sp-rtrace traces, but sp-rtrace leaves them in its files. */
static bool is_ignored(const struct packet *packet)
{
	return !packet->known || packet->type == RTRACE_OCFG || packet->type == RTRACE_NLIB;
}

/* Skips the packet. Return value as packet_peek(). */
static int packet_skip(struct reader *reader, const struct packet *packet)
{
	char type[8];

	reader->skipped += !packet->known;
	if (reader_skip(reader, (uint64_t)RTRACE_HEAD + packet->size))
		return 1;
	if (reader->input_status < 0 || reader->interrupted)
		return reader_end(reader);
	return reader_damage(reader, 0, "the trace ends here, within a %s packet of %u bytes",
			     type_text(packet->type, type), packet->size);
}

static int read_handshake(struct reader *reader)
{
	struct rtrace_reader *s = reader->state;

	if (reader_fill(reader, 2) < 2)
		return reader_cut_off(reader, "the handshake");
	if (reader->data[reader->start] != RTRACE_MAGIC)
		return reader_damage(reader, 0, "this does not begin as an rtrace trace");
	const size_t size = align_up(2 + (size_t)reader->data[reader->start + 1], 4);

	if (reader_fill(reader, size + RTRACE_HEAD) < size + RTRACE_HEAD)
		return reader_cut_off(reader, "the handshake or the first packet");
	const unsigned char *p = reader->data + reader->start;
	const size_t arch = size > 5 ? p[4] : 0;

	if (size < 5 + arch + 2)
		return reader_damage(reader, 0, "the handshake is too short for its content");
	s->major = p[2];
	s->minor = p[3];
	s->big_endian = p[5 + arch] == 1;
	s->swap = s->big_endian != host_is_big_endian();
	s->wide = p[6 + arch] == 8;
	if (s->major > RTRACE_COMPAT_MAJOR)
		return reader_damage(reader, 2, "the format's version is %u.%u; versions before 3 are known", s->major,
				     s->minor);
	if (p[5 + arch] > 1 || (p[6 + arch] != 4 && p[6 + arch] != 8))
		return reader_damage(reader, 5 + arch, "byte order %u and pointers of %u bytes are unknown",
				     p[5 + arch], p[6 + arch]);
	s->compat = s->major == RTRACE_COMPAT_MAJOR;
	if (!s->compat && !rtrace_read_is_type(get_type(s, p + size))) {
		/* A version of sp-rtrace before 2.0 may have written this trace. */
		if (!rtrace_read_is_type(get_type(s, p + size + 4)))
			return reader_damage(reader, size, "no packet begins here");
		s->compat = s->old = true;
	}
	buf_add(&s->call_text, p + 5, arch);
	buf_add_char(&s->call_text, '\0');
	reader_skip(reader, size);
	return 1;
}

/* Sets process->origin from module 0, which names the program that wrote the trace. In traces of sp-rtrace module 0 has
 * the name "main", which is no program's name. */
static void read_origin(struct reader *reader, struct record_process *process)
{
	struct rtrace_reader *s = reader->state;
	struct packet packet;
	struct record record;

	if (packet_peek(reader, &packet) != 1 || packet.type != RTRACE_MINF ||
	    rtrace_take_record(reader, &packet, &record) < 0 || record.module.id || !strcmp(record.module.name, "main"))
		return;
	s->arg_text.size = 0;
	buf_printf(&s->arg_text, "%s %u.%u", record.module.name, record.module.version_major,
		   record.module.version_minor);
	process->origin = buf_str(&s->arg_text);
}

static int rtrace_read_begin(struct reader *reader, struct record *record)
{
	struct rtrace_reader *s = reader->state;
	struct packet packet;
	int status = read_handshake(reader);

	if (status <= 0)
		return status;
	const char *arch = buf_str(&s->call_text);

	record->type = RECORD_PROCESS;
	record->process = (struct record_process){
		.version_major = s->major,
		.version_minor = s->minor,
		.arch = *arch ? arch : NULL,
		.pointer_size = s->wide ? 8 : 4,
		.big_endian = s->big_endian,
	};
	while ((status = packet_peek(reader, &packet)) == 1 && is_ignored(&packet))
		if ((status = packet_skip(reader, &packet)) != 1)
			break;
	if (status < 0)
		return status;
	s->begun = true;
	if (!status || packet.type != RTRACE_PINF)
		return 1; /* a trace without PINF is unusual, but it can be read */
	status = rtrace_take_process(reader, &packet, &record->process);
	if (status < 0)
		return status;
	reader_skip(reader, RTRACE_HEAD + packet.size);
	while (packet_peek(reader, &packet) == 1 && (packet.type == RTRACE_NTIM || packet.type == RTRACE_ATCH)) {
		record->process.no_timestamps |= packet.type == RTRACE_NTIM;
		record->process.is_attached |= packet.type == RTRACE_ATCH;
		reader_skip(reader, RTRACE_HEAD + packet.size);
	}
	read_origin(reader, &record->process);
	return 1;
}

static int give_call(struct reader *reader, struct record *record)
{
	struct rtrace_reader *s = reader->state;

	s->has_call = false;
	record->type = RECORD_CALL;
	record->call = s->call;
	return 1;
}

/* Returns true if the packet belongs to s->call, which is not returned yet, or if packets of this call may still
 * follow. */
static bool continues_call(const struct rtrace_reader *s, const struct packet *packet)
{
	switch (packet->type) {
	case RTRACE_BTRC:
		return !s->call.has_frames;
	case RTRACE_ARGS:
		return !s->has_args;
	case RTRACE_FILE: /* sp-rtrace may write FILE between a call and its stack */
		return s->compat && !s->call.has_frames;
	}
	return is_ignored(packet);
}

/* Parses a packet. Returns 1 if it has set *record, 2 if it has not, or a negative errno. */
static int take_packet(struct reader *reader, struct packet *packet, struct record *record)
{
	struct rtrace_reader *s = reader->state;
	int status;

	switch (packet->type) {
	case RTRACE_CALL:
		status = rtrace_take_call(reader, packet);
		s->has_call = status == 2;
		break;
	case RTRACE_BTRC:
	case RTRACE_ARGS:
		if (!s->has_call) {
			reader->skipped++; /* the packet belongs to no call */
			status = 2;
		} else {
			status = packet->type == RTRACE_BTRC ? rtrace_take_frames(reader, packet)
							     : rtrace_take_args(reader, packet);
		}
		break;
	case RTRACE_USEC:
		status = rtrace_take_microseconds(reader, packet);
		break;
	case RTRACE_PINF:
	case RTRACE_NTIM:
	case RTRACE_ATCH:
		/* the packet comes too late, because the process record has been returned */
		reader->skipped++;
		status = 2;
		break;
	default:
		status = rtrace_take_record(reader, packet, record);
		break;
	}
	if (status > 0)
		reader_skip(reader, RTRACE_HEAD + packet->size);
	return status;
}

static int rtrace_read_next(struct reader *reader, struct record *record)
{
	struct rtrace_reader *s = reader->state;
	struct packet packet;
	int status;

	if (!s->begun)
		return rtrace_read_begin(reader, record);
	do {
		status = packet_peek(reader, &packet);
		if (s->has_call && (status != 1 || !continues_call(s, &packet)))
			return give_call(reader, record);
		if (status != 1)
			return status;
		if (!is_ignored(&packet))
			status = take_packet(reader, &packet, record);
		else if ((status = packet_skip(reader, &packet)) == 1)
			status = 2;
	} while (status == 2);
	return status;
}

static int rtrace_next(struct reader *reader, struct record *record)
{
	struct rtrace_reader *s = reader->state;

	if (s->stopped)
		return s->status;
	const int status = rtrace_read_next(reader, record);

	if (status > 0)
		return status;
	s->stopped = true;
	s->status = status;
	/* The end or the damage is after s->call, which is not returned yet, so the call itself is sound. */
	return s->has_call ? give_call(reader, record) : status;
}

const struct reader_ops rtrace_reader_ops = {
	.detect = rtrace_detect,
	.state_size = sizeof(struct rtrace_reader),
	.next = rtrace_next,
	.is_compat = rtrace_is_compat,
	.end = rtrace_read_end,
};
