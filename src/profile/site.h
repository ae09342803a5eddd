/* What is counted of a place that allocates, of a function, of a thread. */
#ifndef FT_PROFILE_SITE_H
#define FT_PROFILE_SITE_H

#include "analysis/intern.h"
#include "profile/timeline.h"
#include "trace/event.h"

/* Sizes 0, 1, 2-3, 4-7...: bucket 0 and one for each highest bit. */
#define SIZE_BUCKETS 65
/* Lifetimes below 1, 10, 100... microseconds or events. */
#define LIFETIME_BUCKETS 14

struct moment {
	uint64_t index;   /* of the calls, counted */
	uint64_t number;  /* that the trace gives the call */
	uint64_t time_ns; /* as in the record */
	/* Since the first call: nanoseconds, or calls where the trace has no times. Never less than an earlier
	 * call's. */
	uint64_t since;
};

struct function_stats {
	const char *name;
	struct tally tally;
	uint64_t releases; /* of the calls */
};

/* What is counted of a site, or of a kind of resource. */
struct figures {
	struct tally allocated; /* all calls */
	struct tally live, temporary;
	struct tally at_peak; /* alive when the resource's peak was */
};

/* Where resources of one kind are allocated: a distinct stack, and the function that was called there. One line may
 * call several, and then their stacks are equal. */
struct site {
	const struct stack *stack; /* NULL: calls without one */
	const char *function;      /* interned */
	struct site *next_of_stack;
	struct tally tally; /* all calls */
	struct tally live, temporary;
	struct tally own_peak;          /* the most that was alive of this site, as the resource's peak is counted */
	struct tally at_peak;           /* alive when the resource's peak was, after account_end() */
	struct figures at_mark;         /* as they were when the account's mark passed, after account_end() */
	struct tally earlier;           /* alive at the account's earlier_since, after account_end() */
	struct tally picked;            /* alive at the end, and of the trace; where a scan was, what is lost */
	struct tally picked_indirectly; /* of that, what is only indirectly lost */
	struct tally lost[LOST_KINDS];  /* of what is alive at the end, as the last scan said */
	struct tally unscanned;         /* alive at the end, and allocated since that scan */
	struct tally earlier_lost[LOST_KINDS],
		earlier_unscanned;           /* of these, what was alive at the account's earlier_since */
	uint64_t lifetimes;                  /* of the released: their sum, in the units of `since` */
	uint64_t ages;                       /* of those alive at the end: their sum, after account_end() */
	uint64_t first_since;                /* of its first call */
	uint64_t oldest_since, newest_since; /* of those alive at the end, after account_end() */
	uint64_t number;                     /* in the order of the first calls */
	uint64_t newest_id;                  /* of the newest that is alive, after account_end() */
	bool is_before;                      /* what is older than the trace; without a stack */
	uint64_t peak_seen;                  /* the resource's peaks that at_peak knows of */
	struct site_history history;         /* what was alive at each moment of the resource's timeline */
};

struct thread_account {
	uint32_t tid;
	const char *name; /* interned; "" unknown */
	struct tally tally, live, temporary;
	struct figures at_mark; /* without at_peak */
};

#endif
