/* Which blocks a process had before its trace began. */
#ifndef FT_TRACER_BASELINE_H
#define FT_TRACER_BASELINE_H

#include "tracer/process.h"

/* What a baseline has found, and what it has cost. */
struct baseline {
	pid_t pid;
	bool is_taken;         /* false: nothing was looked at */
	const char *reason;    /* why its blocks are not known, a static text; NULL: they are */
	uint64_t stood_ns;     /* the longest time for which a thread of any process was kept from running */
	uint64_t caught_up_ns; /* as struct live_capture has it */
	unsigned pauses;       /* of this process, and all of them together */
	uint64_t paused_ns;
	uint64_t blocks, bytes;
};

/* Whether any is taken: not with --no-baseline, and not where nothing that is traced is a block of the heap. */
bool baseline_is_wanted(const struct tracer *t);
/* Starts a process in the midst of its life, as process_start_running() does (the error: life->start_error): its
 * threads are stopped for a moment, and its trace gets the blocks of its heap that the ledger does not know. What
 * tasks of other processes report is acted on meanwhile. The caller has a reference of it. False: no task is left to
 * trace. */
bool baseline_take(struct process *p, struct baseline *baseline);

#endif
