/* What is counted of a trace: calls, and what was odd with them. */
#ifndef FT_RECORD_COUNTS_H
#define FT_RECORD_COUNTS_H

#include <stdint.h>

/* What was odd with the releases of one kind. */
struct kind_counts {
	uint64_t unknown_releases; /* of what was not seen allocated */
	uint64_t repeated;         /* ... and had been released before */
	uint64_t perhaps_internal; /* ... and perhaps was never the program's: the allocator's own bookkeeping */
	uint64_t failed_again;     /* that failed, of what had been released (a descriptor closed twice) */
	uint64_t reused;           /* ids that were given out while they were live: a release was not seen */
	uint64_t mismatched;       /* by another family of functions */
};

struct counts {
	uint64_t events;         /* calls that were written */
	uint64_t stale;          /* calls that ended without a return (longjmp, an exception) */
	uint64_t not_calls;      /* entries of functions to which something jumped */
	uint64_t no_return_seen; /* calls whose return could not be watched */
	uint64_t withdrawn; /* releases whose calls were not seen to return: whether they have succeeded is not known */
	uint64_t internal;  /* releases of the allocator's own bookkeeping, not written */
	uint64_t slow_steps;                      /* breakpoints passed by stopping all threads */
	uint64_t retired;                         /* return sites taken out, for no call came to them */
	uint64_t stacks, cut_stacks, lost_stacks; /* taken for events; see enum stack_end */
	uint64_t unnamed_stacks;                  /* written before their names were known: -r */
	uint64_t failed_probes;                   /* functions that could not be probed */
	uint64_t failures;                        /* calls that failed, and of which a remark is in the trace: -a */
	uint64_t unreturned;                      /* recorded calls that never returned: the same */
	uint64_t unknown_params;                  /* functions that were called, -a, and nothing is known of theirs */
	uint64_t unknown_results; /* returns of functions of -x of which nothing is known of the result */
};

/* Add every count of `from` to those of `to`. */
void counts_add(struct counts *to, const struct counts *from);
void kind_counts_add(struct kind_counts *to, const struct kind_counts *from);

#endif
