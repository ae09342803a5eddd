/* Writes rows: lines of JSON with the figures of a stack, or of a whole process, at the end of an interval. A watch
 * (src/fleet) and `functrace-postproc -f rows` write the same columns, so that one table of a database takes both. */
#ifndef FT_EXPORT_ROW_LINE_H
#define FT_EXPORT_ROW_LINE_H

#include "base/buf.h"
#include "watch/interval.h"

/* A row. Strings are NULL, times and the pid 0, and figures NAN if they are unknown; the line then has null. The
 * columns have the names of the members, except that times are without "_ns". */
struct row_line {
	const char *scope; /* "stack"; "interval": the figures of the whole process */
	const char *host, *service, *program, *build_id;
	uint64_t pid;
	/* Times in ns since the Epoch; in the line as "2026-02-28T09:05:00.250000000Z". The figures are those of
	 * interval_end_ns, for blocks that were allocated since watch_begin_ns. */
	uint64_t process_start_ns, watch_begin_ns, interval_begin_ns, interval_end_ns;
	const char *kind; /* of resource: "memory" */
	const char *way;  /* how calls were seen: "kernel", "breakpoints", or "trace" */
	/* Of the stack: row_stack_id(), 16 hexadecimal digits in the line; unknown if has_id is false. */
	uint64_t id;
	bool has_id;
	/* The columns `function` (see row_function()), and as arrays of equal length, the innermost frame first:
	 * `functions`, `files`, `lines`, `objects`, `build_ids`, `offsets`. */
	const struct watch_frame *frames;
	size_t frame_count;
	double allocated_rate, call_rate;       /* bytes and blocks that are allocated a second */
	double live, live_low, live_high;       /* bytes */
	double blocks;                          /* live blocks */
	double growth, growth_low, growth_high; /* bytes a second */
	double lost;                            /* bytes */
	const char *verdict;                    /* "sound", "growing", "few windows", "unresolved", or "exact" */
	double samples, windows, looks, share;
	/* Only in rows of the scope "interval": struct watch_interval describes them. */
	double heap_bytes, heap_blocks, before, unattributed, stacks, calls_seen, calls_unseen;
	/* Shares of one CPU, and the longest pause of the process in seconds. */
	double cost_budget, cost_target, cost_own, cost_pause;
	/* Times of the last look at the heap, and of the scan that has found the lost bytes. */
	uint64_t looked_ns, scanned_ns;
};

/* Returns a row in which everything is unknown. */
struct row_line row_line_unknown(void);
/* Appends the row's line with its '\n'. All lines have all columns, in the same order, and are valid UTF-8. */
void row_line_add(struct buf *out, const struct row_line *row);

/* Returns the name that tells most about the stack: that of the innermost function that belongs to the program, and
 * whose name is not an allocator's. If there is none, returns the innermost name; NULL if no frame has a name. The
 * result is a string of a frame. */
const char *row_function(const struct watch_frame *frames, size_t count);

/* Returns the id of a stack: FNV-1a (64 bits) of each frame's build-id (without one, its file's name; without both, an
 * empty text), a zero byte, and the offset as 8 bytes, the lowest first. A frame with the same object and offset as the
 * one before it is left out, because it is a function into which the one before is inlined. */
uint64_t row_stack_id(const struct watch_frame *frames, size_t count);

#endif
