/* What the trace of one process comes to: of each resource what was allocated, what is alive and what was at the
 * peak, in all and by the stack that allocated it. Addresses have no names yet (profile.h is the same with names). */
#ifndef FT_PROFILE_ACCOUNT_H
#define FT_PROFILE_ACCOUNT_H

#include "analysis/clock.h"
#include "analysis/intern.h"
#include "analysis/resources.h"
#include "profile/timeline.h"

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

/* Where resources of one kind are allocated: a distinct stack, and the function that was called there. One line may
 * call several, and then their stacks are equal. */
struct site {
	const struct stack *stack; /* NULL: calls without one */
	const char *function;      /* interned */
	struct site *next_of_stack;
	struct tally tally; /* all calls */
	struct tally live, temporary;
	struct tally own_peak; /* the most that was alive of this site, as the resource's peak is counted */
	struct tally at_peak;  /* alive when the resource's peak was, after account_end() */
	struct tally at_mark;  /* alive when the account's mark passed, after account_end() */
	struct tally picked;   /* alive at the end, as struct account_wishes says; where a scan was, what is lost */
	struct tally picked_indirectly;      /* of that, what is only indirectly lost */
	struct tally lost[LOST_KINDS];       /* of what is alive at the end, as the last scan said */
	uint64_t lifetimes;                  /* of the released: their sum, in the units of `since` */
	uint64_t ages;                       /* of those alive at the end: their sum, after account_end() */
	uint64_t first_since;                /* of its first call */
	uint64_t oldest_since, newest_since; /* of those alive at the end, after account_end() */
	uint64_t number;                     /* in the order of the first calls */
	bool is_marked;                      /* at_mark is set */
	bool is_before;                      /* what is older than the trace; without a stack */
	uint64_t peak_seen;                  /* the resource's peaks that at_peak knows of */
	struct site_history history;         /* what was alive at each moment of the resource's timeline */
};

struct thread_account {
	uint32_t tid;
	const char *name; /* interned; "" unknown */
	struct tally tally, live, temporary;
};

struct block_chunk;

struct resource_account {
	struct stack_pool stacks; /* user: struct site */
	struct hash stackless;    /* interned function -> struct site */
	struct site **sites;      /* in the order of the first calls */
	size_t site_count, site_capacity;
	size_t stack_count;                /* of the sites that have a stack */
	struct hash function_of;           /* interned name -> struct function_stats */
	struct function_stats **functions; /* in the order of the first calls */
	size_t function_count, function_capacity;
	struct hash thread_of; /* number and name -> struct thread_account */
	struct thread_account **threads;
	size_t thread_count, thread_capacity;
	struct tally allocations, others, live, temporary;
	struct tally peak; /* when most bytes were alive; where there are no sizes, when most were */
	struct tally peak_blocks;
	struct moment peak_at, peak_blocks_at;
	uint64_t peaks;    /* how often `peak` was passed */
	bool counts_alone; /* what sizes its calls may have say nothing: of descriptors */
	uint64_t releases, unknown_releases, references, reused;
	struct tally sizes[SIZE_BUCKETS], live_sizes[SIZE_BUCKETS];
	uint64_t lifetimes_ns[LIFETIME_BUCKETS], lifetimes_events[LIFETIME_BUCKETS];
	uint64_t scans;                /* so many have been, and what the last one said of these blocks: */
	const char *scan_reason;       /* why nothing is known; interned, "" where it is */
	struct tally lost[LOST_KINDS]; /* after account_end() */
	struct timeline timeline;
	const void *newest;  /* the block that was allocated last */
	struct site *before; /* what a census has found, which counts as allocated; NULL: there was none */
};

/* What is wanted beyond the sums. Times are in nanoseconds since the first call; in a trace without times each second
 * stands for a call. */
struct account_wishes {
	/* Of what is alive at the end, picked is what was born from `from` to `to`, and is at least so
	 * old. to 0: whenever after `from`. */
	uint64_t from, to, age;
	/* What was alive then is kept as at_mark. */
	bool has_mark;
	uint64_t mark;
};

struct account {
	struct account_wishes wishes; /* set before the first call */
	/* Of the trace, where not all of its calls come here: times are since the first one of those, and the end is
	 * that of the last. NULL: all come. Set before the first call; the caller's, until account_end(). */
	const struct trace_clock *clock;
	char *name, *command;
	uint32_t pid;
	bool has_pid, has_process, is_attached, is_big, has_times;
	int64_t start_sec; /* as in struct record_process */
	uint64_t events;
	struct moment first, last;
	bool mark_passed;
	uint64_t cut, lost;         /* calls whose stacks end before their thread's start */
	struct resources resources; /* user: a pointer to struct resource_account */
	struct object_map objects;
	char **notes; /* the first NOTES_MAX */
	size_t note_count, note_capacity;
	struct intern_pool strings;
	uint32_t tid; /* of the calls that come now; 0 unknown */
	const char *thread_name;
	struct block_chunk *chunks; /* account.c's */
	struct block *unused;
};

static inline struct resource_account *resource_account_of(const struct resource_state *resource)
{
	return resource->user ? *(struct resource_account *const *)resource->user : NULL;
}

/* Takes the next record of the trace. What is wanted of the moments: see timeline.h. Memory is proportional to the live
 * resources and the distinct stacks, functions and threads. */
void account_put(struct account *account, const struct record *record);

/* The moment of the next call, by which the account's events and times go on. For who does without the rest of
 * account_put(): the call is counted nowhere else. */
struct moment account_next_moment(struct account *account, const struct record_call *call);

/* Whether its blocks are known to be lost or not. */
bool resource_account_has_scan(const struct resource_account *resource);

/* After the last record: sets what the fields above say is set then. Can be called again after more records. */
void account_end(struct account *account);

/* Frees what the account has; the struct is the caller's. */
void account_free(struct account *account);

#endif
