/* What stats.c gathers and stats_report.c prints. */
#ifndef FT_ANALYSIS_STATS_MODEL_H
#define FT_ANALYSIS_STATS_MODEL_H

#include "analysis/intern.h"
#include "analysis/resources.h"
#include "base/buf.h"

/* Sizes 0, 1, 2-3, 4-7...: bucket 0 and one for each highest bit. */
#define SIZE_BUCKETS 65
/* Lifetimes below 1, 10, 100... microseconds or events. */
#define LIFETIME_BUCKETS 14

struct moment {
	uint64_t index;  /* of the calls, counted */
	uint64_t number; /* that the trace gives the call */
	uint64_t time_ns;
};

struct tally {
	uint64_t calls, bytes;
};

struct function_stats {
	const char *name;
	struct tally tally;
	uint64_t releases; /* of the calls */
};

struct stack_stats {
	const struct stack *stack;
	struct tally tally, live;
	uint64_t number; /* in the order of the first calls */
};

struct resource_stats {
	struct stack_pool stacks;          /* user: struct stack_stats */
	struct hash function_of;           /* interned name -> struct function_stats */
	struct function_stats **functions; /* in the order of the first calls */
	size_t function_count, function_capacity;
	struct stack_stats **stack_list;
	size_t stack_count, stack_capacity;
	struct tally allocations, others, live, peak_blocks, peak_bytes;
	struct moment peak_blocks_at, peak_bytes_at;
	uint64_t releases, unknown_releases, references, reused;
	struct tally sizes[SIZE_BUCKETS];
	uint64_t lifetimes_ns[LIFETIME_BUCKETS], lifetimes_events[LIFETIME_BUCKETS];
};

struct trace_stats {
	char *name;
	uint32_t pid;
	bool has_pid;
	uint64_t events;
	struct moment first, last;
	struct resources resources; /* user: a pointer to struct resource_stats */
	struct object_map objects;
};

static inline struct resource_stats *resource_stats_of(const struct resource_state *resource)
{
	return resource->user ? *(struct resource_stats *const *)resource->user : NULL;
}

/* Appends the report. Sorts the lists that it shows. Lines of more than so many columns are
 * shortened, but for files and lines; 0: none is. */
void stats_report(struct trace_stats *stats, struct buf *out, size_t columns, frame_namer namer, void *names,
		  void (*map)(void *context, struct mapped_object *object), void *context);

#endif
