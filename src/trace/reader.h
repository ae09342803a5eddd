/* Reads a trace of any encoding and dialect, as a stream of records in bounded memory. */
#ifndef FT_TRACE_READER_H
#define FT_TRACE_READER_H

#include "trace/encoding.h"
#include "trace/event.h"

#include <signal.h>

struct buf;
struct reader;
struct stacktrack_format;

struct reader_options {
	const struct encoding *encoding; /* NULL to recognise it by the first bytes */
	bool follow;                     /* wait for more at the end of a growing file */
	/* A signal handler sets this to end the waiting; NULL if it never ends. */
	const volatile sig_atomic_t *stop;
	/* Called with a clause about each thing that could be read but looks damaged ("line 7 looks like a damaged
	 * frame"), or that is no damage but should be known. NULL: damage is only counted. */
	void (*complain)(void *context, const char *clause);
	void *complain_context;
	/* The text of the file beside the trace (encoding_write_map()), which the caller owns; NULL if none. */
	const char *map;
	/* The layout of a StackTrack trace's entries, which the caller owns; NULL for that which functrace writes. */
	const struct stacktrack_format *layout;
};

/* Returns a reader of fd, which is read from its current position, may be a pipe, and is closed by reader_close().
 * Unpacks .gz and .zst input. If fd is no trace, returns NULL with a full sentence in error[size], and fd stays
 * open. */
struct reader *reader_new(int fd, const struct reader_options *options, char *error, size_t size);

/* Reads the next record. Returns 1; 0 at the end; -EBADMSG if the input is damaged or cut off, after all records before
 * that; another negative errno if reading failed. reader_error() then returns a sentence with the offset. */
int reader_next(struct reader *reader, struct record *record);
const char *reader_error(const struct reader *reader);

/* What a format's messages do not say about themselves. */
struct dump_options {
	uint32_t cpus, devices; /* entries in a message about all CPUs or devices; with cpus 0 it is shown as bytes */
};

/* Appends the next message to `out` as text, with each field by name. To be used instead of reader_next(), from the
 * beginning on. Returns as reader_next(), or -ENOTSUP if the trace's format lacks ENCODING_DUMP. */
int reader_dump(struct reader *reader, const struct dump_options *options, struct buf *out);

/* Returns whether the dialect is that of the sp-rtrace 2.0 tools. Known after the first record. */
bool reader_is_compat(const struct reader *reader);

/* Returns how many packets of unknown types were skipped. */
uint64_t reader_skipped(const struct reader *reader);

/* Returns the format of the input. */
const struct encoding *reader_encoding(const struct reader *reader);
/* Returns how many things looked damaged so far. If there is one, the trace is not sound, whatever reader_next()
 * returns. */
uint64_t reader_complaints(const struct reader *reader);

/* Returns the number of bytes taken from the (unpacked) input so far. */
uint64_t reader_offset(const struct reader *reader);

void reader_close(struct reader *reader);

#endif
