/* Writes a trace in any of the encodings.
 *
 * Records go into one buffer; whole packets (lines, records) leave it by write(2) when it is full or flushed, so that a
 * trace is readable up to its last flush whatever happens. With a packer each flush becomes a whole frame, and errors
 * are returned later, at the latest by writer_sync(). */
#ifndef FT_TRACE_WRITER_H
#define FT_TRACE_WRITER_H

#include "trace/encoding.h"
#include "trace/event.h"
#include "trace/unsupported.h"

struct packer;
struct writer;

struct writer_options {
	bool compat;        /* write the dialect of the sp-rtrace 2.0 tools, even if the encoding is the other one */
	bool line_buffered; /* the trace is read live: flush after each call, a compressed trace once a second */
	/* A descriptor that becomes readable when a reader need not be waited for any longer; NULL if none. After that,
	 * half a second without room for a write is an error, -ETIME. The trace then ends with a whole record, unless
	 * the record is longer than PIPE_BUF. */
	const int *let_go;
	/* Bytes that the reader has no room for stay in memory (writer_waiting()) until writer_sync(), which waits. The
	 * descriptor must not block. Not together with a packer. */
	bool never_waits;
	struct packer *packer; /* compresses the trace; NULL if it is not compressed */
	frame_namer namer;     /* -r: names functions; NULL for no names */
	void *namer_context;
	/* With ENCODING_CYCLES: after this many entries the trace repeats all that is needed to read it from there on;
	 * 0 for never. */
	uint64_t cycle_size;
};

/* Returns a writer to fd, which stays the caller's and may be a pipe or a terminal; NULL if the encoding lacks
 * ENCODING_WRITE. `options` may be NULL. */
struct writer *writer_new(const struct encoding *encoding, int fd, const struct writer_options *options);

/* Writes one record. Returns 0, or the negative errno of the first write that failed; after that all records are
 * dropped. What a dialect has no place for is left out and counted. */
int writer_put(struct writer *writer, const struct record *record);

/* Writes out the buffer. After an error in a regular file, cuts the file back to the last whole packet. Returns as
 * writer_put(). */
int writer_flush(struct writer *writer);

/* Returns how many bytes wait for the reader. */
size_t writer_waiting(const struct writer *writer);

/* With never_waits: makes writer_sync() drop what the reader has no room for, instead of waiting. */
void writer_drop_rest(struct writer *writer);
/* Flushes, and waits until all is written. Returns as writer_put(). */
int writer_sync(struct writer *writer);

/* Returns how many calls were written whole: those put before the last flush (with a packer, before writer_sync()),
 * fewer after an error. */
uint64_t writer_calls(const struct writer *writer);

/* Returns how many values (strings, sizes, stacks) did not fit the format and were cut, with the format's mark. */
uint64_t writer_cut_count(const struct writer *writer);

/* Returns how many addresses and ids lost their upper bits, because they have more than a pointer of the trace's
 * machine. A trace with any of them is wrong. */
uint64_t writer_lost_count(const struct writer *writer);

/* Appends the format's end of a trace; no record may be put any more. */
void writer_finish(struct writer *writer);

/* Returns the counts of what was put so far and has no place in the format. */
const struct omissions *writer_omissions(const struct writer *writer);

/* Finishes the trace, unless that was done, flushes, and frees the writer. Returns the first error, as writer_put(). */
int writer_close(struct writer *writer);

#endif
