/* The counters of a trace: its calls, and unusual events. */
#ifndef FT_RECORD_COUNTS_H
#define FT_RECORD_COUNTS_H

#include <stdint.h>

/* Counters of unusual calls, for one kind of resource. */
struct kind_counts {
	uint64_t unknown_releases; /* releases of ids that are not live */
	uint64_t repeated;         /* unknown releases of ids that had been released before */
	/* unknown releases that may be releases by the C library of its own memory */
	uint64_t perhaps_internal;
	/* failed releases of ids that had been released before (a descriptor closed twice) */
	uint64_t failed_again;
	uint64_t reused;     /* allocations of ids that were still live: their releases were missed */
	uint64_t mismatched; /* releases by a function of another family than the allocation's */
};

struct counts {
	uint64_t events;    /* all events, including those that could not be written */
	uint64_t abandoned; /* calls that ended without a return (longjmp, an exception) */
	/* function entries that were not reached by a call, but by a jump or through the kernel: signal handlers, and
	 * functions to which these jump as their last action */
	uint64_t not_calls;
	uint64_t no_return_seen; /* calls whose return could not be watched */
	/* releases that were not written, because the return of the call was not seen */
	uint64_t withdrawn;
	/* releases that were not written, because the C library released its own memory */
	uint64_t internal;
	uint64_t slow_steps; /* instructions that were stepped in place, with all other threads stopped */
	/* return addresses whose breakpoint was removed, because it was hit too often without a return of a traced
	 * call */
	uint64_t retired;
	/* stacks of events: all stacks, those with STACK_CUT, those with STACK_LOST (enum stack_end) */
	uint64_t stacks, cut_stacks, lost_stacks;
	/* stacks that were written with addresses, because their names were not found in time (-r) */
	uint64_t unnamed_stacks;
	/* calls whose records from the kernel's probes are missing, because the ring was full or the thread is
	 * unknown */
	uint64_t unrecorded;
	uint64_t failed_probes;   /* functions that could not be probed */
	uint64_t failures;        /* failed calls with a remark in the trace (-a) */
	uint64_t unreturned;      /* calls that never returned, and have a remark in the trace */
	uint64_t unknown_params;  /* functions that were called and whose parameters are unknown (-a) */
	uint64_t unknown_results; /* returns of functions of -x whose result has an unknown type */
	/* returns of functions of -x whose result the compiler may have left out, because no caller uses it */
	uint64_t lost_results;
};

/* Adds each counter of `from` to the same counter of `to`. */
void counts_add(struct counts *to, const struct counts *from);
void kind_counts_add(struct kind_counts *to, const struct kind_counts *from);

#endif
