/* Counts of a place that allocates, of a function and of a thread. */
#ifndef FT_PROFILE_SITE_H
#define FT_PROFILE_SITE_H

#include "analysis/intern.h"
#include "profile/timeline.h"
#include "trace/event.h"

/* Buckets of sizes 0, 1, 2-3, 4-7...: one for 0, and one for each highest bit. */
#define SIZE_BUCKETS 65
/* Buckets of lifetimes below 1, 10, 100... microseconds or events. */
#define LIFETIME_BUCKETS 14

/* When a call was. */
struct moment {
	uint64_t index;   /* number of the call in the account, from 1 on */
	uint64_t number;  /* number of the call in the trace */
	uint64_t time_ns; /* as in the record */
	/* Since the first call: nanoseconds, or calls where the trace has no times. Never less than an earlier
	 * call's. */
	uint64_t since;
};

struct function_stats {
	const char *name;
	struct tally tally;
	uint64_t releases; /* how many of the calls are releases */
};

/* Counts of a site, or of a kind of resource. */
struct figures {
	struct tally allocated; /* all calls */
	struct tally live, temporary;
	struct tally at_peak; /* alive at the resource's peak */
};

/* A place that allocates resources of one kind: a distinct stack, and the function that was called there. One line may
 * call several functions, whose stacks are then equal. */
struct site {
	const struct stack *stack; /* NULL: calls without one */
	const char *function;      /* interned */
	struct site *next_of_stack;
	struct tally tally; /* all calls */
	struct tally live, temporary;
	struct tally own_peak;          /* the most that was alive of this site, compared as the resource's peak is */
	struct tally at_peak;           /* alive at the resource's peak; valid after account_end() */
	struct figures at_mark;         /* the figures when the account's mark passed; valid after account_end() */
	struct tally earlier;           /* alive at the account's earlier_since; valid after account_end() */
	struct tally picked;            /* what counts as a leak at the end (account_end.c) */
	struct tally picked_indirectly; /* of that, what is indirectly lost */
	struct tally lost[LOST_KINDS];  /* alive at the end, and lost, as the last scan says */
	struct tally unscanned;         /* alive at the end, and allocated after that scan */
	struct tally earlier_lost[LOST_KINDS],
		earlier_unscanned;           /* of these, what was alive at the account's earlier_since */
	uint64_t lifetimes;                  /* sum over the released blocks, in the units of `since` */
	uint64_t ages;                       /* sum over the blocks alive at the end; valid after account_end() */
	uint64_t first_since;                /* time of its first call */
	uint64_t oldest_since, newest_since; /* of the blocks alive at the end; valid after account_end() */
	uint64_t number;                     /* index in resource_account.sites */
	uint64_t newest_id;                  /* id of the newest live block; valid after account_end() */
	bool is_before;                      /* blocks from before the trace; they have no stack */
	uint64_t peak_seen;                  /* the resource's `peaks` when at_peak was set */
	struct site_history history;         /* what was alive at each moment of the resource's timeline */
};

struct thread_account {
	uint32_t tid;
	const char *name; /* interned; "" unknown */
	struct tally tally, live, temporary;
	struct figures at_mark; /* without at_peak */
};

#endif
