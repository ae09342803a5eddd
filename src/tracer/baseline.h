/* The baseline: the blocks that a process had before its trace began. */
#ifndef FT_TRACER_BASELINE_H
#define FT_TRACER_BASELINE_H

#include "tracer/process.h"

/* The result of a baseline, and its cost. */
struct baseline {
	pid_t pid;
	bool is_taken;         /* false: no copy was wanted, or no task of the process is left */
	const char *reason;    /* why the blocks are unknown, as a constant text; NULL: they are known */
	uint64_t stopped_ns;   /* the longest time for which a thread of any process could not run */
	uint64_t caught_up_ns; /* see struct traced_capture */
	unsigned pauses;       /* number of pauses of this process; paused_ns: their total time */
	uint64_t paused_ns;
	uint64_t blocks, bytes;
};

/* Returns true if baselines are taken: if some traced kind has blocks of the heap, but not with --no-baseline or -L. */
bool baseline_is_wanted(const struct tracer *t);
/* Starts tracing a process that runs, as process_start_running() does (the error is in life->start_error). Stops its
 * threads for a moment, and adds to its trace those blocks of its heap that the ledger does not contain. Acts on stops
 * of other processes meanwhile. The caller has a reference to the process. Returns false if no task is left to
 * trace. */
bool baseline_take(struct process *p, struct baseline *baseline);

#endif
