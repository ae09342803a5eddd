#include "config.h"
#include "watch/recent.h"
#include "base/hash.h"
#include "base/util.h"
#include "watch/watch_data.h"

#include <stdlib.h>

#define RECENT_WINDOWS 50    /* windows after which the next span begins */
#define RECENT_SAMPLES 20000 /* samples of a span */
#define EXPECTED_MIN   10    /* samples that a stack should have in the span, without which it tells nothing */
#define SURVIVORS_MIN  0.6   /* share of the samples of all the time that a stack keeps if it forgets nothing */
#define NONE_SEEN_MOST 2.3   /* if no sample is alive, the truth is below 2.3 in 90 % of cases (Poisson) */

/* The windows since some time. */
struct recent_span {
	struct watch *watch;  /* NULL: it has not begun */
	uint64_t began, work; /* when it began; the work before */
	unsigned windows;
};

struct watch_recent {
	uint64_t seed;
	bool is_renewed;             /* the older span began after the watch */
	struct recent_span spans[2]; /* the older one first */
};

static struct recent_span span_new(uint64_t seed, uint64_t now, uint64_t work)
{
	return (struct recent_span){
		.watch = watch_new(&(struct watch_options){.samples_max = RECENT_SAMPLES, .seed = seed}, now),
		.began = now,
		.work = work};
}

struct watch_recent *watch_recent_new(uint64_t seed, uint64_t now, uint64_t work)
{
	struct watch_recent *const recent = xcalloc(1, sizeof(*recent));

	recent->seed = seed;
	recent->spans[0] = span_new(seed, now, work);
	return recent;
}

void watch_recent_free(struct watch_recent *recent)
{
	if (!recent)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(recent->spans); i++)
		if (recent->spans[i].watch)
			watch_free(recent->spans[i].watch);
	free(recent);
}

/* Begins the next span when the younger one, or the only one, has enough windows. */
static void renew(struct watch_recent *recent, uint64_t now, uint64_t work)
{
	struct recent_span *const spans = recent->spans;

	if (spans[1].watch ? spans[1].windows < RECENT_WINDOWS : spans[0].windows < RECENT_WINDOWS)
		return;
	if (spans[1].watch) {
		watch_free(spans[0].watch);
		spans[0] = spans[1];
		recent->is_renewed = true;
	}
	spans[1] = span_new(recent->seed, now, work);
}

#define EACH_SPAN(span, recent)                                                                                        \
	for (struct recent_span *span = (recent)->spans;                                                               \
	     span < (recent)->spans + ARRAY_SIZE((recent)->spans) && span->watch; span++)

void watch_recent_window_begin(struct watch_recent *recent, uint64_t now, uint64_t work)
{
	renew(recent, now, work);
	EACH_SPAN(span, recent)
	{
		span->windows++;
		watch_window_begin(span->watch, now, work - span->work);
	}
}

void watch_recent_window_end(struct watch_recent *recent, uint64_t now, uint64_t work, const struct watch_heap *heap)
{
	EACH_SPAN(span, recent)
	watch_window_end(span->watch, now, work - span->work, heap);
}

void watch_recent_allocated(struct watch_recent *recent, uint64_t now, uint64_t address, uint64_t size,
			    uint32_t size_class, uint32_t stack)
{
	EACH_SPAN(span, recent)
	watch_allocated(span->watch, now, address, size, size_class, stack);
}

void watch_recent_released(struct watch_recent *recent, uint64_t now, uint64_t address, uint32_t size_class)
{
	EACH_SPAN(span, recent)
	watch_released(span->watch, now, address, size_class);
}

void watch_recent_look(struct watch_recent *recent, uint64_t now, uint64_t work, const struct watch_heap *heap)
{
	struct watch_heap without = *heap;

	/* It counts the blocks that were lost since the watch began. */
	without.lost_count = NULL;
	EACH_SPAN(span, recent)
	watch_look(span->watch, now, work - span->work, &without);
}

static void set_growth(struct watch_stack *to, const struct watch_stack *from)
{
	to->growth = from->growth;
	to->growth_low = from->growth_low;
	to->growth_high = from->growth_high;
	to->verdict = from->verdict;
}

/* of: the same stack in the span; NULL: it has no samples there. seconds: length of the span. */
static void join_stack(struct watch_stack *whole, const struct watch_stack *of, double seconds)
{
	const double one = whole->survivors && whole->live > 0 ? whole->live / (double)whole->survivors : 0;
	const bool is_known = one > 0 && whole->growth * seconds >= EXPECTED_MIN * one;

	if (!of && is_known) {
		set_growth(whole, &(struct watch_stack){.growth_high = NONE_SEEN_MOST * one / seconds});
		return;
	}
	/* Where the two agree, the estimate from all windows is the better one. */
	if (!of || of->verdict == WATCH_UNRESOLVED ||
	    (whole->verdict == WATCH_GROWING && of->growth_high >= whole->growth_low &&
	     of->growth_low <= whole->growth_high))
		return;
	/* Blocks of a cache live longer than the span, too; but in all the time it has released many. */
	if (of->verdict == WATCH_GROWING ? (double)whole->survivors >= SURVIVORS_MIN * (double)whole->samples
					 : is_known && of->growth_high < whole->growth_low)
		set_growth(whole, of);
}

void watch_recent_apply(const struct watch_recent *recent, uint64_t now, struct watch_result *whole)
{
	const struct recent_span *const span = &recent->spans[0];
	struct hash of_stack = {0};

	if (!recent->is_renewed || now <= span->began)
		return;
	struct watch_result *const late = watch_estimate(span->watch);

	for (size_t i = 0; i < late->count; i++)
		hash_set_ptr(&of_stack, late->stacks[i].stack, &late->stacks[i]);
	for (size_t i = 0; i < whole->count && late->windows >= WINDOWS_MIN; i++)
		join_stack(&whole->stacks[i], hash_get_ptr(&of_stack, whole->stacks[i].stack),
			   (double)(now - span->began) / 1e9);
	hash_free(&of_stack);
	watch_result_free(late);
}
