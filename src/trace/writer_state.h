/* The state of a writer, for the formats' writers. Private to trace/. */
#ifndef FT_TRACE_WRITER_STATE_H
#define FT_TRACE_WRITER_STATE_H

#include "base/buf.h"
#include "trace/encoding_ops.h"
#include "trace/unsupported.h"
#include "trace/writer.h"

struct writer {
	const struct encoding *encoding;
	struct writer_options options;
	int fd;
	/* the output through the packer, which writes to fd; NULL if the trace is not compressed */
	struct packed *packed;
	uint64_t flushed_at; /* time of the last frame of `packed`, in ns of CLOCK_MONOTONIC */
	int error;           /* the first error, a negative errno; 0 if there was none */
	/* finished: no record may be put any more. is_last: writer_sync() was called, and not writer_drop_rest(), so a
	 * flush waits until all bytes are written, even with never_waits */
	bool finished, is_last;
	bool drops_rest;
	bool has_process;    /* a process record was put */
	uint64_t cut_count;  /* number of values that were cut; see writer_cut_count() */
	uint64_t lost_count; /* number of addresses that lost bits; see writer_lost_count() */
	/* bytes that are not written yet; between two calls of writer_put() they end with a whole record */
	struct buf out;
	/* the end of each record in `out`, to find the last whole record after an error */
	struct record_end {
		uint32_t at, calls;
	} * ends;
	/* number of calls in the bytes that writer_put() appends: 1 for a call record, unless the format sets another
	 * number */
	unsigned calls_put;
	struct omissions omissions;
	size_t end_count, end_capacity;
	/* with options.never_waits: number of bytes for which the pipe had no room at the last try */
	size_t waiting;
	uint64_t calls; /* number of calls that were written */
	void *state;    /* the state of the format's writer */
};

/* Appends the record with the encoding's function for its type, or counts it as omitted. */
void writer_put_record(struct writer *writer, const struct record *record);

#endif
