/* The parts of struct resource_account: sums by stack, by function and by thread, at the peak, and of the last scan. */
#ifndef FT_PROFILE_ACCOUNT_SUMS_H
#define FT_PROFILE_ACCOUNT_SUMS_H

#include "analysis/clock.h"
#include "analysis/intern.h"
#include "analysis/tally.h"
#include "base/hash.h"
#include "profile/site.h"
#include "trace/event.h"

struct function_stats;
struct thread_account;

/* The sites of calls, which have a stack or only a function. */
struct account_stacks {
	struct stack_pool stacks; /* stack.user points to a struct site */
	struct hash stackless;    /* interned function -> struct site */
	struct site **sites;      /* in the order of their first calls */
	size_t site_count, site_capacity;
	size_t stack_count; /* number of sites with a stack */
};

/* The functions by which resources were allocated. */
struct account_functions {
	struct hash function_of;           /* interned name -> struct function_stats */
	struct function_stats **functions; /* in the order of their first calls */
	size_t function_count, function_capacity;
};

/* The threads that allocated resources. */
struct account_threads {
	struct hash thread_of; /* hash of number and name -> struct thread_account */
	struct thread_account **threads;
	size_t thread_count, thread_capacity;
};

/* The sums of the resources that were alive at the peak. */
struct account_peak {
	/* the live resources when there were most bytes; without sizes, when there were most resources */
	struct tally peak;
	struct tally peak_blocks;
	struct moment peak_at, peak_blocks_at;
	uint64_t peaks; /* number of times that `peak` has risen */
};

/* The result of the last scan. */
struct account_scan {
	uint64_t scans;                /* number of scans; the other fields describe the last one */
	const char *scan_reason;       /* why the scan has no result (interned); "" if it has one */
	uint64_t scan_index;           /* index of the last call before the scan */
	struct tally lost[LOST_KINDS]; /* lost live blocks by class; valid after account_end() */
	struct tally unscanned;        /* live blocks that were allocated after the scan; valid after account_end() */
};

#endif
