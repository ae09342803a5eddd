/* What the encodings' readers see of a reader.  Private to trace/. */
#ifndef FT_TRACE_READER_STATE_H
#define FT_TRACE_READER_STATE_H

#include "base/util.h"
#include "trace/encoding_ops.h"
#include "trace/trace_input.h"
#include "trace/reader.h"

/* An encoding is recognised by so many bytes. */
#define READER_DETECT 20

struct reader {
	const struct encoding *encoding;
	struct input *input;
	int fd;
	unsigned char *data; /* a NUL follows the last byte */
	size_t start, end, capacity;
	uint64_t base;    /* where in the input data[0] was */
	bool ended;       /* all that the input has is in `data` */
	int input_status; /* why: 0, or a negative errno */
	bool interrupted; /* following was ended by a signal: what is incomplete is no damage */
	bool may_pause;   /* reader_fill returns also when what is followed does not grow */
	uint64_t skipped, complaints;
	void (*complain)(void *context, const char *clause);
	void *complain_context;
	const char *map;                        /* NULL none */
	const struct stacktrack_format *layout; /* reader_options */
	char message[512];
	void *state; /* the encoding's */
};

static inline size_t reader_available(const struct reader *reader)
{
	return reader->end - reader->start;
}

/* Does the work of reader_fill() where there is not enough. */
size_t reader_fill_slow(struct reader *reader, size_t want);

/* Tries to have `want` bytes at data + start (the data may move) and returns how many there are.
 * `want` is bounded by the caller; the memory used is proportional to it. */
static inline size_t reader_fill(struct reader *reader, size_t want)
{
	const size_t available = reader_available(reader);

	return available >= want ? available : reader_fill_slow(reader, want);
}

/* Does the work of reader_skip() where some of it is not read yet. */
bool reader_skip_far(struct reader *reader, uint64_t size);

/* Passes over `size` bytes, in bounded memory. False if the input has fewer. */
static inline bool reader_skip(struct reader *reader, uint64_t size)
{
	if (size > reader_available(reader))
		return reader_skip_far(reader, size);
	reader->start += size;
	return true;
}

/* Says that the input is damaged `ahead` bytes after data + start; returns -EBADMSG. */
int reader_damage(struct reader *reader, size_t ahead, const char *fmt, ...) FT_PRINTF(3, 4);

/* Something can be read, but looks damaged: counts it, and hands the clause to reader->complain. */
void reader_complain(struct reader *reader, const char *fmt, ...) FT_PRINTF(2, 3);

/* Tells reader->complain of something that users should know and that is no damage. */
void reader_remark(struct reader *reader, const char *clause);

/* Says that the input ends within something; or, if reading failed, that. Returns a negative
 * errno; 0 if only the wait for more was ended by a signal. */
int reader_cut_off(struct reader *reader, const char *within);

/* The end of the input between two records: 0, or a negative errno if reading failed. */
int reader_end(struct reader *reader);

/* Times of the day become times that go on: a step back of more than an hour is the next day,
 * smaller ones are records that are not quite in order. */
struct day_clock {
	bool known;
	uint64_t last; /* ns */
};

/* The next record's time of the day, in ns, as a time that goes on. */
uint64_t day_clock_time(struct day_clock *clock, uint64_t ns);

#endif
