/* Counts for an allocating place in the program (a site), for a function and for a thread. */
#ifndef FT_PROFILE_SITE_H
#define FT_PROFILE_SITE_H

#include "analysis/intern.h"
#include "profile/timeline.h"
#include "trace/event.h"

/* Number of size buckets: one for 0, and one for each highest bit: 1, 2-3, 4-7... */
#define SIZE_BUCKETS 65
/* Number of lifetime buckets: below 1, 10, 100... microseconds or events. */
#define LIFETIME_BUCKETS 14

/* The time of a call. */
struct moment {
	uint64_t index;   /* number of the call in the account, from 1 on */
	uint64_t number;  /* number of the call in the trace */
	uint64_t time_ns; /* time in the record */
	/* Time since the first call in nanoseconds; in calls if the trace has no times. Never less than that of an
	 * earlier call. */
	uint64_t since;
};

struct function_stats {
	const char *name;
	struct tally tally;
	uint64_t releases; /* how many of the calls are releases */
};

/* Counts of a site or of a kind of resource. */
struct figures {
	struct tally allocated; /* all calls */
	struct tally live, temporary;
	struct tally at_peak; /* alive at the peak of the kind of resource */
};

static inline void figures_join(struct figures *to, const struct figures *more)
{
	tally_join(&to->allocated, &more->allocated);
	tally_join(&to->live, &more->live);
	tally_join(&to->temporary, &more->temporary);
	tally_join(&to->at_peak, &more->at_peak);
}

/* The figures of a stack at the end of an interval: see struct record_estimate. */
struct site_estimate {
	double live_low, live_high, growth, growth_low, growth_high; /* NAN: unknown */
	enum estimate_verdict verdict;
	double lost_bytes; /* NAN: unknown */
	uint64_t interval; /* time of the interval's end, as in the record */
	bool is_gone;      /* the latest interval has no figures of the stack: nothing of it is alive */
};

/* A place that allocates resources of one kind: a distinct stack, and the function that was called there. Calls of
 * different functions have equal stacks if one call instruction makes them (by a function pointer). */
struct site {
	const struct stack *stack; /* NULL: the site of calls without a stack */
	const char *function;      /* interned */
	struct site *next_of_stack;
	struct tally tally; /* all calls */
	struct tally live, temporary;
	struct tally own_peak;          /* the site's own peak, by the rule for `peak` of struct resource_account */
	struct tally at_peak;           /* alive at the peak of the kind of resource; valid after account_end() */
	struct figures at_mark;         /* the counts at the account's mark; valid after account_end() */
	struct tally earlier;           /* alive at the account's earlier_since; valid after account_end() */
	struct tally picked;            /* the blocks that are reported as leaks at the end (account_end.c) */
	struct tally picked_indirectly; /* the part of `picked` that is indirectly lost */
	struct tally lost[LOST_KINDS];  /* alive at the end, and lost according to the last scan */
	struct tally unscanned;         /* alive at the end, and allocated after the last scan */
	/* The parts of `lost` and of `unscanned` that were alive at the account's earlier_since. */
	struct tally earlier_lost[LOST_KINDS], earlier_unscanned;
	/* The number of blocks whose release was seen, and the sum of their lifetimes in the units of `since`. The
	 * lifetime of a block from before the trace counts as 0. */
	uint64_t released, lifetimes;
	uint64_t ages;        /* sum over the blocks alive at the end; valid after account_end() */
	uint64_t first_since; /* time of the site's first call */
	/* allocation times of blocks alive at the end; valid after account_end() */
	uint64_t oldest_since, newest_since;
	uint64_t number;                /* index in resource_account.sites */
	uint64_t newest_id;             /* id of the newest live block; valid after account_end() */
	bool has_newest;                /* newest_since and newest_id are set; id 0 is valid (a descriptor) */
	bool is_before;                 /* blocks from before the trace, which have no stack */
	uint64_t peak_seen;             /* `peaks` of struct resource_account when at_peak was set */
	struct site_estimate *estimate; /* NULL: the figures are counts of calls */
	struct site_history history;    /* live blocks at each moment of the timeline in struct resource_account */
};

struct thread_account {
	uint32_t tid;
	const char *name; /* interned; "": unknown */
	struct tally tally, live, temporary;
	struct figures at_mark; /* at_peak is not used */
};

#endif
