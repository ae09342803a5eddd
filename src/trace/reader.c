#include "config.h"
#include "trace/reader_state.h"
#include "trace/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is read at once: more does not fit in the caches, less costs more calls. (Fuzzers make it
 * small, so that everything comes in pieces.) */
#ifndef READER_READ_SIZE
#define READER_READ_SIZE (256u << 10)
#endif

/* A followed file that has not grown for so many tenths of a second pauses. */
#define PAUSE_WAITS 2

static void make_room(struct reader *reader, size_t want)
{
	if (reader->start) {
		memmove(reader->data, reader->data + reader->start, reader_available(reader));
		reader->base += reader->start;
		reader->end -= reader->start;
		reader->start = 0;
	}
	if (reader->capacity - reader->end >= READER_READ_SIZE / 2 && reader->capacity >= want)
		return;
	/* Doubled, so that a long wait for the end of something is not quadratic. */
	reader->capacity =
		reader->capacity * 2 > want + READER_READ_SIZE ? reader->capacity * 2 : want + READER_READ_SIZE;
	reader->data = xreallocarray(reader->data, reader->capacity + 1, 1);
}

/* Reads once. False when there is nothing more, or nothing for now. */
static bool read_more(struct reader *reader, unsigned *waits)
{
	if (reader->may_pause && input_await_idle(reader->input))
		return false;
	const ssize_t got = input_read(reader->input, reader->data + reader->end, reader->capacity - reader->end);

	if (got > 0) {
		reader->end += (size_t)got;
		return true;
	}
	int status = (int)got;

	if (!got && reader->may_pause && *waits == PAUSE_WAITS)
		return false;
	if (!got) {
		status = input_wait(reader->input);
		*waits += 1;
		if (status == 1)
			return true;
	}
	reader->ended = true;
	reader->interrupted = status == -EINTR;
	reader->input_status = reader->interrupted ? 0 : status;
	return false;
}

size_t reader_fill_slow(struct reader *reader, size_t want)
{
	unsigned waits = 0;

	if (reader->ended)
		return reader_available(reader);
	make_room(reader, want);
	while (reader_available(reader) < want && read_more(reader, &waits))
		;
	reader->data[reader->end] = '\0';
	return reader_available(reader);
}

bool reader_skip(struct reader *reader, uint64_t size)
{
	while (size > reader_available(reader)) {
		size -= reader_available(reader);
		reader->start = reader->end;
		if (!reader_fill(reader, 1))
			return false;
	}
	reader->start += size;
	return true;
}

int reader_damage(struct reader *reader, size_t ahead, const char *fmt, ...)
{
	va_list args;
	const int used = snprintf(reader->message, sizeof(reader->message),
				  "the trace is damaged at byte %" PRIu64 ": ", reader_offset(reader) + ahead);

	va_start(args, fmt);
	vsnprintf(reader->message + used, sizeof(reader->message) - (size_t)used, fmt, args);
	va_end(args);
	return -EBADMSG;
}

void reader_complain(struct reader *reader, const char *fmt, ...)
{
	char clause[256];
	va_list args;

	reader->complaints++;
	if (!reader->complain)
		return;
	va_start(args, fmt);
	vsnprintf(clause, sizeof(clause), fmt, args);
	va_end(args);
	reader->complain(reader->complain_context, clause);
}

int reader_end(struct reader *reader)
{
	const int status = reader->input_status;
	const uint64_t end = reader->base + reader->end;

	if (status == -EBADMSG)
		snprintf(reader->message, sizeof(reader->message),
			 "%s; this is as far as byte %" PRIu64 " of the trace", input_error(reader->input), end);
	else if (status < 0)
		snprintf(reader->message, sizeof(reader->message),
			 "the trace cannot be read on after byte %" PRIu64 ": %s", end, strerror(-status));
	return status;
}

int reader_cut_off(struct reader *reader, const char *within)
{
	if (reader->input_status < 0)
		return reader_end(reader);
	if (reader->interrupted)
		return 0;
	snprintf(reader->message, sizeof(reader->message),
		 "the trace is cut off: it ends at byte %" PRIu64 " within %s that begins at byte %" PRIu64,
		 reader->base + reader->end, within, reader_offset(reader));
	return -EBADMSG;
}

uint64_t day_clock_time(struct day_clock *clock, uint64_t ns)
{
	const uint64_t hour = UINT64_C(3600000000000), day = 24 * hour;
	uint64_t time = ns % day;

	if (clock->known) {
		time += clock->last / day * day;
		if (time + hour < clock->last)
			time += day;
		else if (time > clock->last + 23 * hour && time >= day)
			time -= day;
	}
	clock->known = true;
	clock->last = time;
	return time;
}

static bool is_all_text(const unsigned char *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (data[i] < ' ' && (!data[i] || !strchr("\t\n\r", data[i])))
			return false;
	return true;
}

static void describe_unknown(const struct reader *reader, char *error, size_t size)
{
	const size_t available = reader_available(reader);

	if (reader->input_status == -EBADMSG)
		snprintf(error, size, "this cannot be unpacked: %s", input_error(reader->input));
	else if (reader->input_status < 0)
		snprintf(error, size, "this cannot be read: %s", strerror(-reader->input_status));
	else if (!available)
		snprintf(error, size, "this is empty: no trace was written here");
	else if (reader->encoding)
		snprintf(error, size, "traces in the format %s can only be written; those that can be read are: %s",
			 encoding_name(reader->encoding), encoding_names(ENCODING_READ));
	else
		snprintf(error, size, "this is no trace of a known format: it begins %s. Formats are: %s",
			 is_all_text(reader->data, available < READER_DETECT ? available : READER_DETECT)
				 ? "with other text than a trace's header"
				 : "with other bytes than a trace",
			 encoding_names(ENCODING_READ));
}

static void reader_free(struct reader *reader)
{
	input_free(reader->input);
	free(reader->data);
	free(reader);
}

struct reader *reader_new(int fd, const struct reader_options *options, char *error, size_t size)
{
	struct reader *reader = xcalloc(1, sizeof(*reader));

	reader->fd = fd;
	reader->input = input_new(fd, options && options->follow);
	if (options) {
		reader->complain = options->complain;
		reader->complain_context = options->complain_context;
	}
	const size_t available = reader_fill(reader, READER_DETECT);

	if (options && options->encoding)
		reader->encoding = options->encoding;
	else
		reader->encoding = encoding_detect(reader->data, available < READER_DETECT ? available : READER_DETECT);
	if (!available || !reader->encoding || !reader->encoding->reader) {
		describe_unknown(reader, error, size);
		reader_free(reader);
		return NULL;
	}
	reader->state = reader->encoding->reader->begin(reader);
	return reader;
}

int reader_next(struct reader *reader, struct record *record)
{
	return reader->encoding->reader->next(reader, record);
}

const char *reader_error(const struct reader *reader)
{
	return reader->message;
}

bool reader_is_compat(const struct reader *reader)
{
	const struct reader_ops *ops = reader->encoding->reader;

	return ops->is_compat && ops->is_compat(reader);
}

uint64_t reader_skipped(const struct reader *reader)
{
	return reader->skipped;
}

uint64_t reader_complaints(const struct reader *reader)
{
	return reader->complaints;
}

uint64_t reader_offset(const struct reader *reader)
{
	return reader->base + reader->start;
}

void reader_close(struct reader *reader)
{
	if (!reader)
		return;
	close(reader->fd);
	reader->encoding->reader->end(reader);
	reader_free(reader);
}
