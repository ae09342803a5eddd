/* Estimates what stays of all that a program allocates, from samples: the calls within short windows, and looks at the
 * heap. This room knows neither tracers nor heaps. It is fed with windows, calls and looks, by the tracer or by a
 * simulator. All times are nanoseconds of one clock.
 *
 *	window: calls are seen | look: which samples' chunks are still in use? | window | look | ...
 *
 * A block whose chunk is in use at a look need not be the sampled one: its address may have been released and given to
 * another block of the same size. doc/WATCH.md describes the estimator. */
#ifndef FT_WATCH_WATCH_H
#define FT_WATCH_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct watch;

#define WATCH_SAMPLES_MAX 100000 /* samples_max of functrace --watch: some 10 MB, and half a second for an estimate */

struct watch_options {
	/* Number of samples and controls that are kept. If there are more, half of those of stacks with many are
	 * forgotten. If this is not enough, every second window is forgotten, and from then on only every second one is
	 * kept. */
	size_t samples_max;
	uint64_t seed; /* of the random numbers by which intervals are computed */
};

/* now: when the watch begins. The caller frees the result by watch_free(). */
struct watch *watch_new(const struct watch_options *options, uint64_t now);
void watch_free(struct watch *w);

/* What a look tells of a chunk. The watch sets all fields to what it knows. */
struct watch_chunk {
	uint64_t size; /* that of the sampled block; 0: only the class is asked for */
	uint32_t size_class;
	uint64_t print; /* a hash of the block's first bytes; 0: unknown */
};

/* The heap at a look. */
struct watch_heap {
	void *context;
	/* Returns false if no chunk in use begins at the address. */
	bool (*chunk_at)(void *context, uint64_t address, struct watch_chunk *chunk);
	/* Returns the number of chunks in use of a class; NULL: they are not counted. */
	uint64_t (*count)(void *context, uint32_t size_class);
	/* Returns true if a scan at this look has found the block at the address definitely lost; NULL: there was no
	 * scan, and what an earlier one has found stays true. */
	bool (*is_lost)(void *context, uint64_t address);
	/* Returns the number of lost blocks of a class that were not lost when the watch began. */
	uint64_t (*lost_count)(void *context, uint32_t size_class);
};

/* Begins and ends a window. work: how much the program has done since the watch began, in any unit that grows with the
 * number of its calls, such as the instructions that it has executed. heap: for the contents of the blocks that the
 * window has sampled, by which they are told from later blocks at their addresses; NULL: unknown. */
void watch_window_begin(struct watch *w, uint64_t now, uint64_t work);
void watch_window_end(struct watch *w, uint64_t now, uint64_t work, const struct watch_heap *heap);

/* A call within a window. size_class: what a look at the heap tells of the chunk, such as its size. There should be at
 * most some thousands of classes. 0: unknown; a look then asks only whether the chunk is in use. A realloc is a release
 * and an allocation. */
void watch_allocated(struct watch *w, uint64_t now, uint64_t address, uint64_t size, uint32_t size_class,
		     uint32_t stack);
void watch_released(struct watch *w, uint64_t now, uint64_t address, uint32_t size_class);

/* Looks at all samples, except those of a window that is open. `work` as in watch_window_end(). Looks should have equal
 * distances. */
void watch_look(struct watch *w, uint64_t now, uint64_t work, const struct watch_heap *heap);

/* Whether a stack's live bytes grow. */
enum watch_verdict {
	WATCH_SOUND,       /* nothing says that they grow */
	WATCH_GROWING,     /* they grow */
	WATCH_FEW_WINDOWS, /* there are too few windows, or samples that are old enough, to say it */
	WATCH_UNRESOLVED,  /* other blocks take the addresses too fast to tell them from these */
};

/* The blocks that one stack has allocated since the watch began. The low and high values are the ends of an interval
 * that has the true value in at least 90 % of cases. */
struct watch_stack {
	uint32_t stack;
	double live, live_low, live_high;       /* bytes */
	double growth, growth_low, growth_high; /* bytes a second */
	double lost;                            /* bytes of `live` that are definitely lost */
	double blocks;                          /* live blocks */
	size_t samples, survivors;
	enum watch_verdict verdict;
};

struct watch_result {
	struct watch_stack *stacks; /* by descending `live` */
	size_t count;
	size_t windows;
	double share; /* of the program's work that was done in windows */
};

/* Estimates all stacks from the windows that ended before the last look that counts. The caller frees the result by
 * watch_result_free(). */
struct watch_result *watch_estimate(const struct watch *w);
void watch_result_free(struct watch_result *result);

#endif
