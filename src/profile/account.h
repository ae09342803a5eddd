/* Sums up the trace of one process: the allocated resources of each kind, the live ones, and those that were alive at
 * the peak; in total and for each allocating stack. Addresses have no names here; a profile (profile.h) has the same
 * sums with names. */
#ifndef FT_PROFILE_ACCOUNT_H
#define FT_PROFILE_ACCOUNT_H

#include "analysis/clock.h"
#include "analysis/intern.h"
#include "analysis/resources.h"
#include "profile/account_sums.h"
#include "profile/site.h"
#include "trace/note_end.h"

struct block_chunk;

struct resource_account {
	struct account_stacks by_stack;
	struct account_functions by_function;
	struct account_threads by_thread;
	struct account_peak at_peak;
	struct account_scan last_scan;
	struct tally allocations, others, live, temporary;
	bool counts_alone; /* the sizes of calls mean nothing (file descriptors) */
	uint64_t releases, unknown_releases, references, reused;
	struct tally sizes[SIZE_BUCKETS], live_sizes[SIZE_BUCKETS];
	uint64_t lifetimes_ns[LIFETIME_BUCKETS], lifetimes_events[LIFETIME_BUCKETS];
	/* live_sizes at the account's mark; valid after account_end(); NULL: no mark, or the kind first occurred after
	 * it */
	struct tally *live_sizes_at_mark;
	struct timeline timeline;
	const void *newest;                      /* the block that was allocated last, if it is alive */
	struct tally before_sizes[SIZE_BUCKETS]; /* live blocks of a baseline by size; valid after account_end() */
	/* site of the blocks in a baseline; these blocks are added to the allocations; NULL: no baseline */
	struct site *before;
};

/* The figures that an account computes besides the sums. Times are in nanoseconds since the first call; in a trace
 * without times, each second means one call. */
struct account_wishes {
	/* If has_mark is true, the counts at the time `mark` are stored as at_mark, for --diff=@T. */
	bool has_mark;
	uint64_t mark;
};

/* The resident memory of the process in bytes, from records that the trace contains at intervals. */
struct resident {
	bool is_known;
	uint64_t last, peak;  /* values in the last record */
	uint64_t known_since; /* time of the first record; before it, the memory is unknown */
	struct timeline line; /* timeline of `last`: each tally has the value in `bytes`, and 1 in `calls` */
};

/* What the figures of an account rest on if its trace contains estimates. */
struct account_intervals {
	uint64_t count;              /* number of intervals; 0: the trace contains calls */
	bool is_sampled;             /* the figures are estimates from windows */
	size_t note;                 /* 1 + index of the note about what they rest on; 0: there is none */
	struct record_interval last; /* the figures of the last interval of the heap's resource */
};

struct account {
	struct account_wishes wishes; /* must be set before the first call */
	/* Clock of the whole trace, for an account that gets only some of the calls: times begin at the trace's first
	 * call and end at its last call. NULL: the account gets all calls. Must be set before the first call; the
	 * caller owns it and keeps it until account_end(). */
	const struct trace_clock *clock;
	struct trace_clock own_clock; /* used if `clock` is NULL */
	char *name, *command;
	uint32_t pid;
	bool has_pid, has_process, is_attached, is_forked;
	/* has_begun: the trace has a call; the account may have got none of its calls. has_times: the first call of the
	 * trace has a time, which is first.time_ns. */
	bool has_begun, has_times;
	int64_t start_sec; /* as in struct record_process */
	uint64_t events;
	struct moment first, last;
	bool mark_passed;
	/* Valid after account_end(): time of the last moment of the timelines (timeline.h) before the last tenth of the
	 * trace; each site's live blocks at that moment are known. If the trace is shorter than 10 ns or 10 calls (see
	 * struct moment's `since`), this is the end of the trace. */
	uint64_t earlier_since;
	/* calls whose stacks do not reach the outermost frame of their thread: cut, or lost (enum stack_end) */
	uint64_t stacks_cut, stacks_lost;
	struct resources resources; /* resource_state.user points to a pointer to struct resource_account */
	struct object_map objects;
	char *end;       /* how the process ended: "killed by signal 9 (Killed)"; NULL: unknown */
	bool ended_well; /* the process exited with status 0 */
	struct trace_end trace_end;
	/* How other processes of the trace ended, unless with status 0: "process 12 killed by signal 9 (Killed)". After
	 * ENDS_MAX entries they are only counted. */
	char **ends;
	size_t end_count, end_capacity, ends_left_out;
	char **notes; /* the first NOTES_MAX notes of the trace */
	size_t note_count, note_capacity, notes_left_out;
	struct resident resident;
	struct account_intervals intervals;
	struct intern_pool strings;
	const char *process_name; /* the kernel's name of the process, from its first thread; NULL: unknown */
	uint32_t tid;             /* thread of the present call; 0: unknown */
	const char *thread_name;
	struct block_chunk *chunks; /* private to account.c */
	struct account_block *unused;
};

static inline struct resource_account *resource_account_of(const struct resource_state *resource)
{
	return resource->user ? *(struct resource_account *const *)resource->user : NULL;
}

/* Adds the next record of the trace. Memory is proportional to the numbers of live resources and of distinct stacks,
 * functions and threads; the history over time has a fixed size (timeline.h). */
void account_put(struct account *account, const struct record *record);

/* Counts a call in the account's events and times, and returns its moment. Used instead of account_put() by callers
 * that need no other sums. */
struct moment account_next_moment(struct account *account, const struct record_call *call);

/* Returns true if the last scan has found out which blocks of this kind of resource are lost. */
bool resource_account_has_scan(const struct resource_account *resource);

/* Computes the fields whose comments say "valid after account_end()". Call it after the last record; it may be called
 * again after more records. */
void account_end(struct account *account);

/* Returns a text that shows the program to the user: its command line if the trace has it, else the path of its file.
 * If the program was started by a link to this file, or has renamed itself, its other name follows the path:
 * "/usr/bin/redis-check-rdb (redis-server)". The caller frees the text. */
char *account_program(const struct account *account);

/* Frees the memory that the account owns; the caller owns the struct. */
void account_free(struct account *account);

#endif
