/* Fills the buffer of the formats' readers from the input, and reports damage. */
#include "config.h"
#include "trace/reader_state.h"
#include "base/time_units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Number of bytes per read(). More would not fit into the CPU's caches; fewer would need more system calls. (Fuzzers
 * set a small number, so that records are split over several reads.) */
#ifndef READER_READ_SIZE
#define READER_READ_SIZE (256u << 10)
#endif

/* Tenths of a second after which a followed file that has not grown is treated as paused. */
#define PAUSE_WAITS 2

static void reader_state_make_room(struct reader *reader, size_t want)
{
	if (reader->start) {
		memmove(reader->data, reader->data + reader->start, reader_available(reader));
		reader->base += reader->start;
		reader->end -= reader->start;
		reader->start = 0;
	}
	if (reader->capacity - reader->end >= READER_READ_SIZE / 2 && reader->capacity >= want)
		return;
	/* The capacity is doubled, so that reading a long record piece by piece does not take quadratic time. */
	reader->capacity =
		reader->capacity * 2 > want + READER_READ_SIZE ? reader->capacity * 2 : want + READER_READ_SIZE;
	reader->data = xreallocarray(reader->data, reader->capacity + 1, 1);
}

/* Reads once. If no bytes are there yet, waits once and adds 1 to *waits. Returns false if the input has ended. If
 * reader->may_pause is set, also returns false if the input pauses: a followed file after PAUSE_WAITS waits, any other
 * followed input when input_await_idle() returns true. */
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
	reader_state_make_room(reader, want);
	while (reader_available(reader) < want && read_more(reader, &waits))
		;
	reader->data[reader->end] = '\0';
	return reader_available(reader);
}

bool reader_skip_far(struct reader *reader, uint64_t size)
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

void reader_remark(struct reader *reader, const char *clause)
{
	if (reader->complain)
		reader->complain(reader->complain_context, clause);
}

int reader_end(struct reader *reader)
{
	const int status = reader->input_status;
	const uint64_t end = reader->base + reader->end;

	if (status == -EBADMSG)
		snprintf(reader->message, sizeof(reader->message), "%s; the trace is readable up to byte %" PRIu64,
			 input_error(reader->input), end);
	else if (status < 0)
		snprintf(reader->message, sizeof(reader->message),
			 "the trace cannot be read after byte %" PRIu64 ": %s", end, strerror(-status));
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

uint64_t reader_offset(const struct reader *reader)
{
	return reader->base + reader->start;
}

uint64_t day_clock_time(struct day_clock *clock, uint64_t ns)
{
	const uint64_t hour = 3600 * NS_PER_SECOND, day = NS_PER_DAY;
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
