/* The state of a reader, for the formats' readers. Private to trace/. */
#ifndef FT_TRACE_READER_STATE_H
#define FT_TRACE_READER_STATE_H

#include "base/util.h"
#include "trace/encoding_ops.h"
#include "trace/trace_input.h"
#include "trace/reader.h"

/* The number of bytes by which a format is recognised. */
#define READER_DETECT 20

struct reader {
	const struct encoding *encoding;
	struct input *input;
	int fd;
	unsigned char *data; /* a NUL follows the last byte */
	size_t start, end, capacity;
	uint64_t base;    /* the offset of data[0] in the input */
	bool ended;       /* the input has no more than is in `data` */
	int input_status; /* why it has ended: 0, or a negative errno */
	bool interrupted; /* a signal has ended the waiting for more: an incomplete record is no damage */
	bool may_pause;   /* reader_fill() also returns if a followed input does not grow */
	uint64_t skipped, complaints;
	void (*complain)(void *context, const char *clause);
	void *complain_context;
	const char *map;                        /* NULL if none */
	const struct stacktrack_format *layout; /* from reader_options */
	char message[512];
	void *state; /* the format's */
};

static inline size_t reader_available(const struct reader *reader)
{
	return reader->end - reader->start;
}

/* Does the work of reader_fill() if there are not enough bytes yet. */
size_t reader_fill_slow(struct reader *reader, size_t want);

/* Reads until there are `want` bytes at data + start, which may move, or the input ends. Returns how many there are.
 * The caller limits `want`, because the memory used is proportional to it. */
static inline size_t reader_fill(struct reader *reader, size_t want)
{
	const size_t available = reader_available(reader);

	return available >= want ? available : reader_fill_slow(reader, want);
}

/* Does the work of reader_skip() if some of the bytes have not been read yet. */
bool reader_skip_far(struct reader *reader, uint64_t size);

/* Skips `size` bytes, in bounded memory. Returns false if the input has fewer. */
static inline bool reader_skip(struct reader *reader, uint64_t size)
{
	if (size > reader_available(reader))
		return reader_skip_far(reader, size);
	reader->start += size;
	return true;
}

/* Describes damage `ahead` bytes after data + start as the reader's error. Returns -EBADMSG. */
int reader_damage(struct reader *reader, size_t ahead, const char *fmt, ...) FT_PRINTF(3, 4);

/* Counts something that can be read but looks damaged, and passes the clause to reader->complain. */
void reader_complain(struct reader *reader, const char *fmt, ...) FT_PRINTF(2, 3);

/* Passes a clause to reader->complain that users should know and that is no damage. */
void reader_remark(struct reader *reader, const char *clause);

/* Describes as the reader's error that the input ends within something or, if reading failed, that it did. Returns a
 * negative errno; 0 if only a signal ended the waiting for more. */
int reader_cut_off(struct reader *reader, const char *within);

/* To be called if the input ends between two records. Returns 0, or a negative errno if reading failed, which is then
 * the reader's error. */
int reader_end(struct reader *reader);

/* Turns times of the day into times that do not wrap at midnight. A step back of more than an hour means the next day;
 * a smaller one means records that are not quite in order. */
struct day_clock {
	bool known;
	uint64_t last; /* ns */
};

/* Returns the next record's time of the day, in ns, as a time that does not wrap. */
uint64_t day_clock_time(struct day_clock *clock, uint64_t ns);

#endif
