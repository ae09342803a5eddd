/* The counters of a trace: its calls, and what was unusual about them. */
#ifndef FT_RECORD_COUNTS_H
#define FT_RECORD_COUNTS_H

#include <stdint.h>

/* Counts unusual releases of one kind. */
struct kind_counts {
	uint64_t unknown_releases; /* releases of ids that are not live */
	uint64_t repeated;         /* those of ids that were released before */
	uint64_t perhaps_internal; /* those that may be the allocator's own bookkeeping, not the program's */
	uint64_t failed_again;     /* failed releases of ids that were released before (a descriptor closed twice) */
	uint64_t reused;           /* ids that were allocated while live: a release was not seen */
	uint64_t mismatched;       /* releases by another family of functions */
};

struct counts {
	uint64_t events;         /* all events, also those that could not be written */
	uint64_t stale;          /* calls that ended without a return (longjmp, an exception) */
	uint64_t not_calls;      /* function entries reached by a jump instead of a call */
	uint64_t no_return_seen; /* calls whose return could not be watched */
	uint64_t withdrawn;      /* releases not written, because no return of their calls was seen */
	uint64_t internal;       /* releases of the allocator's own bookkeeping, not written */
	uint64_t slow_steps;     /* steps in place, with all other threads stopped */
	uint64_t retired;        /* return sites given up: reached too often other than by a traced return */
	uint64_t stacks, cut_stacks, lost_stacks; /* stacks of events: all, cut, lost (see enum stack_end) */
	uint64_t unnamed_stacks;                  /* stacks written before their names were known (-r) */
	uint64_t failed_probes;                   /* functions that could not be probed */
	uint64_t failures;                        /* failed calls that have a remark in the trace (-a) */
	uint64_t unreturned;                      /* recorded calls that never returned; they are in remarks */
	uint64_t unknown_params;                  /* called functions whose parameters are unknown (-a) */
	uint64_t unknown_results;                 /* returns of functions of -x whose results are of unknown type */
};

/* Adds every count of `from` to those of `to`. */
void counts_add(struct counts *to, const struct counts *from);
void kind_counts_add(struct kind_counts *to, const struct kind_counts *from);

#endif
