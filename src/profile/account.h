/* What the trace of one process comes to: of each resource what was allocated, what is alive and what was at the
 * peak, in all and by the stack that allocated it. Addresses have no names yet (profile.h is the same with names). */
#ifndef FT_PROFILE_ACCOUNT_H
#define FT_PROFILE_ACCOUNT_H

#include "analysis/clock.h"
#include "analysis/intern.h"
#include "analysis/resources.h"
#include "profile/site.h"
#include "trace/note_end.h"

/* What a resource's tables had when the account's mark passed. */
struct resource_mark {
	struct tally sizes[SIZE_BUCKETS], live_sizes[SIZE_BUCKETS];
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
	struct resource_mark *at_mark; /* NULL: nothing was there then; after account_end() */
	uint64_t scans;                /* so many have been, and what the last one said of these blocks: */
	const char *scan_reason;       /* why nothing is known; interned, "" where it is */
	uint64_t scan_index;           /* of the last call before it */
	struct tally lost[LOST_KINDS]; /* after account_end() */
	struct tally unscanned;        /* alive, and allocated since that scan; after account_end() */
	struct timeline timeline;
	const void *newest;  /* the block that was allocated last */
	struct site *before; /* what a baseline has found, which counts as allocated; NULL: there was none */
};

/* What is wanted beyond the sums. Times are in nanoseconds since the first call; in a trace without times each second
 * stands for a call. */
struct account_wishes {
	/* What had been counted then is kept as at_mark. */
	bool has_mark;
	uint64_t mark;
};

/* How much memory of the process was resident, in bytes, as its trace says now and then. */
struct resident {
	bool is_known;
	uint64_t last, peak;  /* what the last record says */
	uint64_t known_since; /* the time of the first one; nothing is known before it */
	struct timeline line; /* one tally of `last` each */
};

struct account {
	struct account_wishes wishes; /* set before the first call */
	/* Of the trace, where not all of its calls come here: times are since the first one of those, and the end is
	 * that of the last. NULL: all come. Set before the first call; the caller's, until account_end(). */
	const struct trace_clock *clock;
	char *name, *command;
	uint32_t pid;
	bool has_pid, has_process, is_attached, is_forked, is_big, has_times;
	int64_t start_sec; /* as in struct record_process */
	uint64_t events;
	struct moment first, last;
	bool mark_passed;
	/* The last moment of the timelines (timeline.h) before the last tenth of the time, after account_end(): what is
	 * alive then is known of each site. The end, where the trace has no length. */
	uint64_t earlier_since;
	uint64_t cut, lost;         /* calls whose stacks end before their thread's start */
	struct resources resources; /* user: a pointer to struct resource_account */
	struct object_map objects;
	char *end;       /* how it ended: "killed by signal 9 (Killed)"; NULL unknown */
	bool ended_well; /* with status 0 */
	struct trace_end trace_end;
	/* Other processes of the trace that ended otherwise: "process 12 killed by signal 9 (Killed)". Of more than
	 * ENDS_MAX the others are only counted. */
	char **ends;
	size_t end_count, end_capacity, ends_left_out;
	char **notes; /* the first NOTES_MAX */
	size_t note_count, note_capacity, notes_left_out;
	struct resident resident;
	struct intern_pool strings;
	uint32_t tid; /* of the calls that come now; 0 unknown */
	const char *thread_name;
	struct block_chunk *chunks; /* account.c's */
	struct account_block *unused;
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
