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
	struct packed *packed;  /* the output instead of fd; NULL if not compressed */
	uint64_t flushed_at;    /* time of its last frame; CLOCK_MONOTONIC */
	int error;              /* negative errno of the first error */
	bool finished, is_last; /* no record may be put any more; this flush may wait for the reader */
	bool drops_rest;
	bool has_process;    /* a process was put */
	uint64_t cut_count;  /* values that did not fit the format */
	uint64_t lost_count; /* addresses that a pointer of the target has no room for */
	struct buf out;      /* bytes that are not written yet: between two puts, whole records */
	struct record_end {  /* the end of each record in `out`, for cutting back after an error */
		uint32_t at, calls;
	} * ends;
	unsigned calls_put; /* calls in what a put appends: 1 for a call, unless the format changes it */
	struct omissions omissions;
	size_t end_count, end_capacity;
	size_t waiting; /* bytes that the reader had no room for at the last try; options.never_waits */
	uint64_t calls; /* calls that were written */
	void *state;    /* the format's */
};

/* Appends the record by the encoding's function for its type, or counts that it has no place. */
void writer_put_record(struct writer *writer, const struct record *record);

#endif
