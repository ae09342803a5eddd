/* Replays a full trace through windows, as a watch would see it, and compares the estimates with the truth. Looks at
 * the heap are derived from the trace. */
#ifndef FT_BENCH_WATCH_REPLAY_H
#define FT_BENCH_WATCH_REPLAY_H

#include "watch/watch.h"

struct replay_event {
	uint64_t time, address; /* ns; in the order of the trace */
	uint32_t size, stack;   /* of an allocation */
	bool is_allocation;
};

struct replay_options {
	double share, window; /* share of the time that is in windows; s of a window */
	double look;          /* s between two looks */
	double from;          /* share of the trace after which the watch begins */
	size_t samples_max;   /* as in struct watch_options; 0: that of functrace --watch */
	bool is_jemalloc;     /* blocks have the size classes of jemalloc; false: those of glibc */
	uint32_t lost_size;   /* blocks of this size that are never released are lost at once; 0: none are */
	bool is_regular;      /* each period has exactly one whole window; false: a window may end in the next one */
	double same;          /* share of the blocks that keep their contents; 0: contents are unknown */
	uint64_t seed;
};

/* The truth of one stack at the last look: of what it has allocated since the watch began. */
struct replay_stack {
	double live, lost, growth; /* bytes, bytes, bytes a second */
	uint64_t live_blocks, blocks;
	int kind; /* 1: grows, -1: is sound, 0: neither */
};

struct replay {
	struct watch_result *result;
	struct replay_stack *stacks; /* by number */
	size_t stack_count;
	double share; /* of the time that was in windows */
};

/* The caller frees the result by replay_free(). Returns NULL if the options make no
 * sense, or the trace is too short for two windows and a look. */
struct replay *replay_trace(const struct replay_event *events, size_t count, const struct replay_options *options);
void replay_free(struct replay *replay);

/* How good the estimates are. */
struct replay_score {
	unsigned resolved;   /* stacks with ten expected live samples or more */
	double median_error; /* of these, in shares of the truth */
	double sum_error;    /* sum of their errors over the sum of the truth */
	double covered;      /* share of these whose interval has the truth */
	double recall_all;   /* of the ten largest stacks, the share that is among the ten largest estimates */
	double recall;       /* the same of those of the ten that are resolved */
	unsigned sound, false_growing, growing, found_growing;
	unsigned growth_resolved;
	double growth_covered;
	double lost_ratio;  /* estimate / truth of the lost bytes; 0: nothing is lost */
	unsigned lost_rank; /* of the stack that loses most, by growth; 0: not found */
};

struct replay_score replay_score(const struct replay *replay);

#endif
