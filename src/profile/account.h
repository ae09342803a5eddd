/* Sums up the trace of one process: for each resource what was allocated, what is alive and what was alive at the peak,
 * in all and by the stack that allocated it. Addresses have no names yet (profile.h is the same with names). */
#ifndef FT_PROFILE_ACCOUNT_H
#define FT_PROFILE_ACCOUNT_H

#include "analysis/clock.h"
#include "analysis/intern.h"
#include "analysis/resources.h"
#include "profile/site.h"
#include "trace/note_end.h"

/* The tables of a resource as they were when the account's mark passed. */
struct resource_mark {
	struct tally sizes[SIZE_BUCKETS], live_sizes[SIZE_BUCKETS];
};

struct block_chunk;

struct resource_account {
	struct stack_pool stacks; /* stack.user is a struct site */
	struct hash stackless;    /* interned function -> struct site */
	struct site **sites;      /* in the order of the first calls */
	size_t site_count, site_capacity;
	size_t stack_count;                /* sites that have a stack */
	struct hash function_of;           /* interned name -> struct function_stats */
	struct function_stats **functions; /* in the order of the first calls */
	size_t function_count, function_capacity;
	struct hash thread_of; /* number and name -> struct thread_account */
	struct thread_account **threads;
	size_t thread_count, thread_capacity;
	struct tally allocations, others, live, temporary;
	struct tally peak; /* what was alive when most bytes were; without sizes, when most resources were */
	struct tally peak_blocks;
	struct moment peak_at, peak_blocks_at;
	uint64_t peaks;    /* how often `peak` has risen */
	bool counts_alone; /* sizes of its calls mean nothing (descriptors) */
	uint64_t releases, unknown_releases, references, reused;
	struct tally sizes[SIZE_BUCKETS], live_sizes[SIZE_BUCKETS];
	uint64_t lifetimes_ns[LIFETIME_BUCKETS], lifetimes_events[LIFETIME_BUCKETS];
	struct resource_mark *at_mark; /* valid after account_end(); NULL: no mark, or no calls before it */
	uint64_t scans;                /* number of scans; what the last one says of these blocks: */
	const char *scan_reason;       /* why it does not say which are lost (interned); "" if it does */
	uint64_t scan_index;           /* index of the last call before that scan */
	struct tally lost[LOST_KINDS]; /* valid after account_end() */
	struct tally unscanned;        /* alive, and allocated after that scan; valid after account_end() */
	struct timeline timeline;
	const void *newest;  /* the block that was allocated last, if it is alive */
	struct site *before; /* the site of the blocks from a baseline, which count as allocated; NULL: no baseline */
};

/* What to compute besides the sums. Times are in nanoseconds since the first call; in a trace without times each second
 * stands for a call. */
struct account_wishes {
	/* The figures at time `mark` are kept as at_mark. */
	bool has_mark;
	uint64_t mark;
};

/* The resident memory of the process in bytes, as the records of the trace say from time to time. */
struct resident {
	bool is_known;
	uint64_t last, peak;  /* of the last record */
	uint64_t known_since; /* the time of the first record; the memory is unknown before it */
	struct timeline line; /* of `last`, each in a tally of one call */
};

struct account {
	struct account_wishes wishes; /* set before the first call */
	/* The clock of the whole trace, for an account that gets only a part of the calls: times count from the first
	 * call of the trace, and the end is the last one. NULL: the account gets all calls. Set before the first call;
	 * the caller owns it and keeps it until account_end(). */
	const struct trace_clock *clock;
	char *name, *command;
	uint32_t pid;
	bool has_pid, has_process, is_attached, is_forked, has_times;
	int64_t start_sec; /* as in struct record_process */
	uint64_t events;
	struct moment first, last;
	bool mark_passed;
	/* Valid after account_end(): the last moment of the timelines (timeline.h) before the last tenth of the time;
	 * each site's live blocks at that moment are known. If the trace has no length, this is its end. */
	uint64_t earlier_since;
	uint64_t stacks_cut, stacks_lost; /* calls whose stacks were cut, or lost, before the start of their thread */
	struct resources resources;       /* resource_state.user points to a pointer to struct resource_account */
	struct object_map objects;
	char *end;       /* how the process ended: "killed by signal 9 (Killed)"; NULL unknown */
	bool ended_well; /* with status 0 */
	struct trace_end trace_end;
	/* How other processes of the trace ended, if not with status 0: "process 12 killed by signal 9 (Killed)". Those
	 * beyond ENDS_MAX are only counted. */
	char **ends;
	size_t end_count, end_capacity, ends_left_out;
	char **notes; /* the first NOTES_MAX */
	size_t note_count, note_capacity, notes_left_out;
	struct resident resident;
	struct intern_pool strings;
	uint32_t tid; /* the thread of the calls that follow; 0 unknown */
	const char *thread_name;
	struct block_chunk *chunks; /* private to account.c */
	struct account_block *unused;
};

static inline struct resource_account *resource_account_of(const struct resource_state *resource)
{
	return resource->user ? *(struct resource_account *const *)resource->user : NULL;
}

/* Takes the next record of the trace. Memory is proportional to the live resources and to the distinct stacks,
 * functions and threads; timeline.h bounds what is kept of times. */
void account_put(struct account *account, const struct record *record);

/* Counts a call in the account's events and times, and returns its moment. For callers that use it instead of
 * account_put(), because no other sum changes. */
struct moment account_next_moment(struct account *account, const struct record_call *call);

/* Whether the last scan says which of the resource's blocks are lost. */
bool resource_account_has_scan(const struct resource_account *resource);

/* Call it after the last record: computes the fields that are valid after account_end(). It may be called again after
 * more records. */
void account_end(struct account *account);

/* Frees what the account owns; the caller owns the struct. */
void account_free(struct account *account);

#endif
