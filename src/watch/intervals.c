#include "config.h"
#include "watch/counting.h"
#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The estimates of all stacks, with intervals and verdicts. doc/WATCH.md describes the method. */

#define REPLICATES  40    /* of the samples by windows, for intervals */
#define Z_INTERVAL  1.645 /* 90 % of a normal distribution */
#define Z_GROWING   2.33  /* 99 %, one-sided */
#define FLAT_MIN    0.6   /* share of half-aged survivors that must live on */
#define RECENT_MIN  0.25  /* survivors of the second half of the time, for one of the first half */
#define GROWTH_MIN  0.002 /* share of all growth */
#define REUSED_MOST 0.8   /* share of released addresses that look alive, above which a stack is not resolved */
#define NONE_MOST   2.3   /* if no sample is alive, the truth is below 2.3 samples' bytes in 90 % of cases (Poisson) */

/* Sums over the replicates of one stack, to get its spread. */
struct spread {
	double live, live2, growth, growth2, most, most2; /* most: `live` without knowledge of reuse */
};

static double variation(double sum, double squares, unsigned n, double estimate)
{
	const double mean = sum / n, variance = (squares - n * mean * mean) / (n - 1);

	return estimate > 0 && variance > 0 ? sqrt(variance) / estimate : 0;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Estimates again with windows drawn at random from all windows, because windows, not samples, are independent. */
static void replicate(struct counting *e, struct spread *spreads)
{
	struct estimate *const out = xcalloc(e->group_count + 1, sizeof(*out));
	double *const times = xcalloc(e->w->window_count + 1, sizeof(*times));
	uint64_t state = e->w->options.seed * 2 + 1;

	for (unsigned i = 0; i < REPLICATES; i++) {
		memset(times, 0, e->w->window_count * sizeof(*times));
		for (size_t j = 0; j < e->w->window_count; j++)
			times[next_random(&state) % e->w->window_count]++;
		estimate_once(e, times, true, out);
		for (size_t j = 0; j < e->group_count; j++) {
			spreads[j].live += out[j].live;
			spreads[j].live2 += out[j].live * out[j].live;
			spreads[j].growth += out[j].growth;
			spreads[j].growth2 += out[j].growth * out[j].growth;
		}
		if (i % 2)
			continue;
		estimate_once(e, times, false, out);
		for (size_t j = 0; j < e->group_count; j++) {
			spreads[j].most += out[j].live;
			spreads[j].most2 += out[j].live * out[j].live;
		}
	}
	free(times);
	free(out);
}

/* Returns the standard deviation of the logarithm of a log-normal value with this coefficient of variation. */
static double log_deviation(double cv)
{
	return sqrt(log(1 + cv * cv));
}

static double larger_of(double a, double b)
{
	return a > b ? a : b;
}

/* Sets the interval of a stack's live bytes. Without contents it is from the lower end of the estimate to the upper end
 * of the one that takes no notice of reuse. */
static void set_interval(const struct counting *e, const struct group *group, const struct estimate *known,
			 const struct estimate *most, const struct spread *spread, struct watch_stack *to)
{
	double bytes = 0, samples = 0;

	for (size_t i = group->first; i < group->end; i++) {
		const double count = e->samples[i].sample->track.count;

		bytes += (double)e->samples[i].sample->size * e->samples[i].weight * count;
		samples += count;
	}
	const double one = bytes / samples; /* mean number of bytes for which a sample stands */

	if (known->live <= 0) {
		to->live_high = larger_of(most->live, NONE_MOST * one);
		return;
	}
	/* What was allocated before the first look, and after the last one, is in no count. */
	const double drawn =
		larger_of(variation(spread->live, spread->live2, REPLICATES, known->live), 1.0 / e->w->looks);
	const double cv = larger_of(drawn, sqrt(1 / larger_of(1, known->live / one)) *
						   (known->live < one ? one / known->live : 1));

	to->live_low = known->live < one ? 0 : known->live * exp(-Z_INTERVAL * log_deviation(cv));
	to->live_high = known->live * exp(Z_INTERVAL * log_deviation(cv)) + one;
	if (most->live > 0 && !known->knows_contents) {
		const double upper = larger_of(variation(spread->most, spread->most2, REPLICATES / 2, most->live),
					       sqrt(1 / larger_of(1, most->live / one)));

		to->live_high = larger_of(to->live_high, most->live * exp(Z_INTERVAL * log_deviation(upper)) + one);
	}
}

static enum watch_verdict verdict_of(const struct counting *e, const struct estimate *known, double cv,
				     double all_growth)
{
	if (e->w->window_count < WINDOWS_MIN)
		return WATCH_FEW_WINDOWS;
	if (known->growth > 0 && cv * Z_GROWING < 1 && known->old >= WATCH_OLD_MIN && known->flat >= FLAT_MIN &&
	    known->recent >= RECENT_MIN * known->aged && known->growth >= GROWTH_MIN * all_growth)
		return WATCH_GROWING;
	if (known->reused > REUSED_MOST && known->live > 0 && !known->knows_contents)
		return WATCH_UNRESOLVED;
	/* What lives on, and seems to grow, is not sound only because this is not certain. */
	const bool is_uncertain = known->old < WATCH_OLD_MIN || (cv * Z_GROWING >= 1 && known->flat >= FLAT_MIN);

	return known->growth > 0 && is_uncertain ? WATCH_FEW_WINDOWS : WATCH_SOUND;
}

/* Without contents the truth is between both estimates. */
static double between_bounds(double known, double most, bool knows_contents)
{
	return knows_contents ? known : (known + most) / 2;
}

static int by_live(const void *a, const void *b)
{
	const struct watch_stack *const one = a, *const other = b;

	if (one->live != other->live)
		return one->live < other->live ? 1 : -1;
	return one->stack < other->stack ? -1 : 1;
}

static void set_results(struct counting *e, const struct estimate *known, const struct estimate *most,
			const struct spread *spreads, struct watch_result *result)
{
	double all_growth = 0;

	for (size_t i = 0; i < e->group_count; i++)
		all_growth += known[i].growth;
	for (size_t i = 0; i < e->group_count; i++) {
		const struct group *const group = &e->groups[i];
		struct watch_stack *const to = &result->stacks[i];
		const double cv = variation(spreads[i].growth, spreads[i].growth2, REPLICATES, known[i].growth);
		const double deviation = log_deviation(larger_of(cv, sqrt(1 / larger_of(1, known[i].old))));

		*to = (struct watch_stack){
			.stack = group->stack,
			.live = between_bounds(known[i].live, most[i].live, known[i].knows_contents),
			.growth = known[i].growth,
			.growth_low = known[i].growth * exp(-Z_INTERVAL * deviation),
			.growth_high = known[i].growth * exp(Z_INTERVAL * deviation),
			.lost = known[i].lost,
			.blocks = between_bounds(known[i].blocks, most[i].blocks, known[i].knows_contents),
			.samples = group->end - group->first,
			.verdict = verdict_of(e, &known[i], cv, all_growth)};
		for (size_t j = group->first; j < group->end; j++)
			to->survivors += e->samples[j].sample->fate == FATE_PASSED;
		set_interval(e, group, &known[i], &most[i], &spreads[i], to);
	}
	qsort(result->stacks, result->count, sizeof(*result->stacks), by_live);
}

struct watch_result *watch_estimate(const struct watch *w)
{
	struct watch_result *const result = xcalloc(1, sizeof(*result));
	struct counting e;

	result->windows = w->window_count;
	if (!w->looks || !w->window_count || w->looked == w->began)
		return result;
	counting_begin(&e, w);
	struct estimate *const known = xcalloc(e.group_count + 1, sizeof(*known));
	struct estimate *const most = xcalloc(e.group_count + 1, sizeof(*most));
	struct spread *const spreads = xcalloc(e.group_count + 1, sizeof(*spreads));
	double *const once = xreallocarray(NULL, w->window_count, sizeof(*once));

	for (size_t i = 0; i < w->window_count; i++)
		once[i] = 1;
	estimate_once(&e, once, false, most);
	estimate_once(&e, once, true, known);
	replicate(&e, spreads);
	result->share = e.share;
	result->count = e.group_count;
	result->stacks = xcalloc(e.group_count + 1, sizeof(*result->stacks));
	set_results(&e, known, most, spreads, result);
	counting_end(&e);
	free(known);
	free(most);
	free(spreads);
	free(once);
	return result;
}

void watch_result_free(struct watch_result *result)
{
	if (!result)
		return;
	free(result->stacks);
	free(result);
}
