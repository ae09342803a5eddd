/* The state of a reader, for the formats' readers. Private to trace/. */
#ifndef FT_TRACE_READER_STATE_H
#define FT_TRACE_READER_STATE_H

#include "base/util.h"
#include "trace/encoding_ops.h"
#include "trace/trace_input.h"
#include "trace/reader.h"

/* Number of bytes at the beginning of the input that are used to recognise the format. */
#define READER_DETECT 20

struct reader {
	const struct encoding *encoding;
	struct input *input;
	int fd;
	unsigned char *data; /* the buffer; a NUL follows the last byte */
	size_t start, end, capacity;
	uint64_t base;    /* offset of data[0] in the (unpacked) input */
	bool ended;       /* the rest of the input is in `data` */
	int input_status; /* why the input has ended: 0, or a negative errno */
	/* a signal has ended the waiting for more bytes, so an incomplete record is no damage */
	bool interrupted;
	/* reader_fill() may return before it has enough bytes if a followed input does not grow */
	bool may_pause;
	uint64_t skipped, complaints;
	void (*complain)(void *context, const char *clause);
	void *complain_context;
	const char *map;                        /* text of the map file; NULL if there is none */
	const struct stacktrack_format *layout; /* the layout in reader_options */
	char message[512];
	void *state; /* the state of the format's reader */
};

static inline size_t reader_available(const struct reader *reader)
{
	return reader->end - reader->start;
}

/* Implements reader_fill() if there are not enough bytes in the buffer. */
size_t reader_fill_slow(struct reader *reader, size_t want);

/* Reads until `want` bytes are at data + start (these bytes may move), or the input ends. Returns the number of bytes
 * there. The caller limits `want`, because the memory used is proportional to it. */
static inline size_t reader_fill(struct reader *reader, size_t want)
{
	const size_t available = reader_available(reader);

	return available >= want ? available : reader_fill_slow(reader, want);
}

/* Implements reader_skip() if some of the bytes have not been read yet. */
bool reader_skip_far(struct reader *reader, uint64_t size);

/* Skips `size` bytes, in bounded memory. Returns false if the input has fewer. */
static inline bool reader_skip(struct reader *reader, uint64_t size)
{
	if (size > reader_available(reader))
		return reader_skip_far(reader, size);
	reader->start += size;
	return true;
}

/* Sets the reader's error to a message about damage at `ahead` bytes after data + start. Returns -EBADMSG. */
int reader_damage(struct reader *reader, size_t ahead, const char *fmt, ...) FT_PRINTF(3, 4);

/* Counts a complaint about a record that can be read but looks damaged. Passes the formatted text, a clause such as
 * "line 7 looks like a damaged frame", to reader->complain. */
void reader_complain(struct reader *reader, const char *fmt, ...) FT_PRINTF(2, 3);

/* Passes a clause to reader->complain about a fact that users should know, and that is no damage. */
void reader_remark(struct reader *reader, const char *clause);

/* Called if the input ends inside `within` ("a packet"). Sets the reader's error to that fact, or to the reason why
 * reading failed, and returns a negative errno. If a signal ended the waiting for more bytes, sets no error and returns
 * 0. */
int reader_cut_off(struct reader *reader, const char *within);

/* Must be called if the input ends between two records. Returns 0. If reading failed, sets the reader's error and
 * returns a negative errno. */
int reader_end(struct reader *reader);

/* Converts times of the day to times that do not wrap at midnight. A time that is more than an hour earlier than the
 * previous time belongs to the next day. If it is less than an hour earlier, the records are merely out of order. */
struct day_clock {
	bool known;
	uint64_t last; /* the last returned time, in ns */
};

/* Converts the next record's time of the day, in ns, to a time that does not wrap, in ns. */
uint64_t day_clock_time(struct day_clock *clock, uint64_t ns);

#endif
