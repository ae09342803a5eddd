/* Writes a trace in any of the encodings.
 *
 * Records go into one buffer; whole packets (lines, records) leave it by write(2) when it is
 * full or flushed, so that a trace is readable up to its last flush whatever happens. With a packer each flush becomes
 * a whole frame, and errors are known later, at the latest by writer_sync(). */
#ifndef FT_TRACE_WRITER_H
#define FT_TRACE_WRITER_H

#include "trace/encoding.h"
#include "trace/event.h"
#include "trace/unsupported.h"

struct packer;
struct writer;

struct writer_options {
	bool compat;        /* the dialect of the sp-rtrace 2.0 tools, if the encoding is not that already */
	bool line_buffered; /* flush after each call, a compressed trace once a second (somebody reads it live) */
	/* A descriptor, which is readable once a reader need not be waited for any longer than half a second at a time:
	 * then writing fails with -ETIME, at the end of a record that is not longer than PIPE_BUF. NULL: none. */
	const int *let_go;
	/* What the reader has no room for stays in memory (writer_waiting()) up to writer_sync(), which waits. The
	 * descriptor must not block. Not together with a packer. */
	bool never_waits;
	struct packer *packer; /* compresses it; NULL: it is written as it is */
	frame_namer namer;     /* -r: names functions; NULL: they get no names */
	void *namer_context;
	/* Write cycles: what one needs to understand the rest is written again after so many entries (0: never); if
	 * the encoding has ENCODING_CYCLES. */
	uint64_t cycle_size;
};

/* A writer to fd, which stays the caller's; offset-less fds (pipes, terminals) work too. NULL if the encoding lacks
 * ENCODING_WRITE. */
struct writer *writer_new(const struct encoding *encoding, int fd, const struct writer_options *options);

/* Takes one record. 0, or the negative errno of the first write that failed: it sticks, and
 * all later records are dropped. What a dialect has no place for is left out. */
int writer_put(struct writer *writer, const struct record *record);

/* Writes out what is buffered. After an error in a regular file, the file is cut back to the
 * last whole packet. */
int writer_flush(struct writer *writer);

/* How many bytes wait for their reader. */
size_t writer_waiting(const struct writer *writer);

/* With never_waits: what the reader has no room for when writer_sync() is called is dropped then. */
void writer_drop_rest(struct writer *writer);
/* Flushes, and waits until all is written. */
int writer_sync(struct writer *writer);

/* How many calls are whole in what was written: those put before the last flush (writer_sync() where there is a
 * packer), after an error fewer. */
uint64_t writer_calls(const struct writer *writer);

/* How many values (strings, sizes, stacks) did not fit the format and were cut, marked as it says. */
uint64_t writer_cut_count(const struct writer *writer);

/* How many addresses and ids have more bits than a pointer of the trace's machine, and lost the upper ones: what
 * was written is not sound. */
uint64_t writer_lost_count(const struct writer *writer);

/* Appends what the format wants at its end; no record may be put any more. */
void writer_finish(struct writer *writer);

/* What was put and has no place in the format, so far. */
const struct omissions *writer_omissions(const struct writer *writer);

/* Finishes, unless that was done, flushes, frees. The first error, as writer_put. */
int writer_close(struct writer *writer);

#endif
