/* Reads a trace of any encoding and dialect as a stream of records. Memory use is bounded. */
#ifndef FT_TRACE_READER_H
#define FT_TRACE_READER_H

#include "trace/encoding.h"
#include "trace/event.h"

#include <signal.h>

struct buf;
struct reader;
struct stacktrack_format;

struct reader_options {
	const struct encoding *encoding; /* NULL: recognise the format by the first bytes */
	bool follow;                     /* at the end of the file, wait for more bytes */
	/* A signal handler sets *stop to end a wait for more bytes; NULL if no signal does this. */
	const volatile sig_atomic_t *stop;
	/* Called with a clause about each record that was read but looks damaged ("line 7 looks like a damaged frame"),
	 * and about facts that the user should know. NULL: damage is only counted. */
	void (*complain)(void *context, const char *clause);
	void *complain_context;
	/* The text of the trace's map file (encoding_write_map()), owned by the caller; NULL if there is none. */
	const char *map;
	/* The layout of the entries of a StackTrack trace, owned by the caller; NULL for the layout that functrace
	 * writes. */
	const struct stacktrack_format *layout;
};

/* Returns a reader of fd, which may be a pipe. Reading starts at the current position. reader_close() closes fd. Input
 * that is compressed with gzip or zstd is unpacked. If fd is no trace, returns NULL with an error message in
 * error[size], and leaves fd open. */
struct reader *reader_new(int fd, const struct reader_options *options, char *error, size_t size);

/* Reads the next record. Returns 1; 0 at the end; -EBADMSG if the input is damaged or incomplete at this place (all
 * earlier records have been returned); another negative errno if reading failed. After an error, reader_error() returns
 * a message that says at which byte of the input it occurred. */
int reader_next(struct reader *reader, struct record *record);
const char *reader_error(const struct reader *reader);

/* Facts that are needed to dump a trace, and that its messages do not contain. */
struct dump_options {
	/* how many CPUs and devices there are, to parse SWAP's MSG_SYSTEM; with 0 CPUs, MSG_SYSTEM is shown as bytes */
	uint32_t cpus, devices;
};

/* Appends the next message to `out` as text: a line for each field, with its name. Must be called instead of
 * reader_next(), from the beginning of the trace on. Return value as reader_next(), or -ENOTSUP if the trace's format
 * lacks ENCODING_DUMP. */
int reader_dump(struct reader *reader, const struct dump_options *options, struct buf *out);

/* Returns true if the trace has the second dialect, for the sp-rtrace 2.0 tools. Known after the first record. */
bool reader_is_compat(const struct reader *reader);

/* Returns the number of packets that were skipped: those of unknown types, and those at a wrong place, such as a stack
 * without a call. */
uint64_t reader_skipped(const struct reader *reader);

/* Returns the format of the input. */
const struct encoding *reader_encoding(const struct reader *reader);
/* Returns the number of complaints about damage so far. If it is not 0, the trace is not sound, even if reader_next()
 * has returned no error. */
uint64_t reader_complaints(const struct reader *reader);

/* Returns the number of bytes of the (unpacked) input that have been parsed so far. */
uint64_t reader_offset(const struct reader *reader);

void reader_close(struct reader *reader);

#endif
