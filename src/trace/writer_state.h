/* What the encodings' writers see of a writer.  Private to trace/. */
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
	struct packed *packed;  /* where it goes instead of fd; NULL: it is not compressed */
	uint64_t flushed_at;    /* the last frame of it; CLOCK_MONOTONIC */
	int error;              /* the first one: negative errno */
	bool finished, is_last; /* nothing is put any more; what is written now may wait */
	bool drops_rest;
	bool has_process;    /* one was put */
	uint64_t cut_count;  /* values that did not fit the format */
	uint64_t lost_count; /* addresses that a pointer of the target has no room for */
	struct buf out;      /* what is not yet written: whole records between two puts */
	struct record_end {  /* of each record in `out`, for cutting back after an error */
		uint32_t at, calls;
	} * ends;
	unsigned calls_put; /* calls in what a put appends: 1 for a call, unless the encoding changes it */
	struct omissions omissions;
	size_t end_count, end_capacity;
	size_t waiting; /* bytes that the reader had no room for at the last try; options.never_waits */
	uint64_t calls; /* written */
	void *state;    /* the encoding's */
};

/* Appends the record by the encoding's function for its type, or counts that it has no place. */
void writer_put_record(struct writer *writer, const struct record *record);

#endif
