/* Writes a trace in any of the encodings.
 *
 * Records are collected in a buffer. When the buffer is full or flushed, whole packets (lines, records) are written by
 * write(2), so that a trace can be read up to the last flush even if functrace is killed. With a packer, each flush
 * becomes one compressed frame. If that frame cannot be written, a later call returns the error, at the latest
 * writer_sync(). */
#ifndef FT_TRACE_WRITER_H
#define FT_TRACE_WRITER_H

#include "trace/encoding.h"
#include "trace/event.h"
#include "trace/unsupported.h"

struct packer;
struct writer;

struct writer_options {
	/* write the second dialect, for the sp-rtrace 2.0 tools, even if `encoding` is the first dialect */
	bool compat;
	/* a reader follows the trace: flush after each call, or once a second if it is compressed */
	bool line_buffered;
	/* The descriptor *let_go becomes readable when functrace is asked to detach; NULL if there is none. From then
	 * on a write fails with -ETIME if a slow reader leaves no room for half a second. The trace then ends with a
	 * whole record, unless a record is longer than PIPE_BUF. */
	const int *let_go;
	/* Never block: bytes that the pipe has no room for stay in memory (writer_waiting()). Only writer_sync() waits
	 * until they are written. The descriptor must be nonblocking. Cannot be combined with a packer. */
	bool never_waits;
	struct packer *packer; /* compresses the trace; NULL if it is not compressed */
	frame_namer namer;     /* -r: finds the names of functions; NULL: no names are looked up */
	void *namer_context;
	/* With ENCODING_CYCLES: number of entries after which the trace repeats the data that are needed to read it
	 * from there on; 0: never. */
	uint64_t cycle_size;
};

/* Returns a writer to fd, which may be a pipe or a terminal; the caller closes fd. Returns NULL if the encoding lacks
 * ENCODING_WRITE. `options` may be NULL. */
struct writer *writer_new(const struct encoding *encoding, int fd, const struct writer_options *options);

/* Writes one record. Returns 0, or the negative errno of the first write that failed; after an error all further
 * records are dropped. Data for which the dialect has no place are left out and counted. */
int writer_put(struct writer *writer, const struct record *record);

/* Writes the buffer. After an error in a regular file, removes the incomplete packet at its end. Return value as
 * writer_put(). */
int writer_flush(struct writer *writer);

/* With never_waits: returns the number of bytes in memory for which the pipe had no room at the last try. */
size_t writer_waiting(const struct writer *writer);

/* With never_waits: lets writer_sync() drop the bytes for which the pipe has no room, instead of waiting. */
void writer_drop_rest(struct writer *writer);
/* Flushes, and waits until all bytes are written. Return value as writer_put(). */
int writer_sync(struct writer *writer);

/* Returns the number of calls that were written completely. Without a packer, these are all calls before the last
 * flush, or fewer after an error or while bytes wait (writer_waiting()). With a packer, they are at least all calls
 * before the last writer_sync(), unless there was an error. */
uint64_t writer_calls(const struct writer *writer);

/* Returns the number of values (strings, sizes, stacks) that were too large for the format, and were cut and marked. */
uint64_t writer_cut_count(const struct writer *writer);

/* Returns the number of addresses and ids that lost their upper bits because they do not fit in a pointer of the
 * trace's machine. If it is not 0, the trace is wrong. */
uint64_t writer_lost_count(const struct writer *writer);

/* Appends the end mark of a trace, if the format has one. No record may be put afterwards. */
void writer_finish(struct writer *writer);

/* Returns the counts of the omissions so far. The writer owns them. */
const struct omissions *writer_omissions(const struct writer *writer);

/* Finishes the trace if writer_finish() was not called, flushes, and frees the writer. Return value as writer_put(). */
int writer_close(struct writer *writer);

#endif
