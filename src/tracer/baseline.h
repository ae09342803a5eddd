/* The baseline: which blocks a process had before its trace began. */
#ifndef FT_TRACER_BASELINE_H
#define FT_TRACER_BASELINE_H

#include "tracer/process.h"

/* What a baseline has found, and its cost. */
struct baseline {
	pid_t pid;
	bool is_taken;         /* false: there was no capture */
	const char *reason;    /* why the blocks are unknown, as static text; NULL: they are known */
	uint64_t stopped_ns;   /* the longest time for which a thread of any process could not run */
	uint64_t caught_up_ns; /* as in struct live_capture */
	unsigned pauses;       /* of this process; paused_ns: their sum */
	uint64_t paused_ns;
	uint64_t blocks, bytes;
};

/* Returns whether baselines are taken: not with --no-baseline or -L, and not if no traced kind has blocks of the
 * heap. */
bool baseline_is_wanted(const struct tracer *t);
/* Starts a process that runs, as process_start_running() does (its error: life->start_error). Stops its threads for a
 * moment, and adds to its trace the blocks of its heap that the ledger does not have. Stops of other processes are
 * acted on meanwhile. The caller has a reference to the process. Returns false if no task is left to trace. */
bool baseline_take(struct process *p, struct baseline *baseline);

#endif
