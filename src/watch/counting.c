#include "config.h"
#include "watch/counting.h"
#include "base/util.h"

#include <math.h>
#include <stdlib.h>

#define GUARD      2   /* times the long lives of a stack's blocks: what is sampled later in a window does not count */
#define GUARD_MOST 0.9 /* of the window */

/* Sorts pointers to tracks, or to structs that begin with one. */
static int by_stack(const void *a, const void *b)
{
	const struct track *const one = *(const struct track *const *)a;
	const struct track *const other = *(const struct track *const *)b;

	if (one->stack != other->stack)
		return one->stack < other->stack ? -1 : 1;
	if (one->class_number != other->class_number)
		return one->class_number < other->class_number ? -1 : 1;
	return one < other ? -1 : one > other;
}

static int by_value(const void *a, const void *b)
{
	const double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

/* Returns the time, in ns, for which blocks of these samples of one stack may live and yet die: blocks in flight at the
 * end of a window are not what stays. */
static double guard_of(const struct sample *const *samples, size_t count)
{
	double *const lives = xreallocarray(NULL, count + 1, sizeof(*lives)), longest;
	size_t died = 0;

	for (size_t i = 0; i < count; i++)
		if (samples[i]->fate == FATE_DIED_IN_WINDOW)
			lives[died++] = (double)(samples[i]->died - samples[i]->track.time);
	qsort(lives, died, sizeof(*lives), by_value);
	longest = !died ? 0 : lives[died >= 20 ? (size_t)((double)died * 0.99) : died - 1];
	free(lives);
	return GUARD * longest;
}

static void add_counted(struct counting *e, const struct sample *sample, double guard)
{
	const struct window *const window = &e->w->windows[sample->track.window];
	const double length = (double)(window->end - window->begin);
	const double kept = length - (guard < GUARD_MOST * length ? guard : GUARD_MOST * length);

	/* What was allocated after the last look is not known yet. */
	if (!looks_due(e->w, &sample->track) || kept <= 0)
		return;
	if (sample->fate == FATE_DIED_IN_WINDOW || (double)(sample->track.time - window->begin) > kept)
		return;
	e->samples[e->count++] = (struct counted_sample){sample, length / kept / e->shares[sample->track.window]};
}

static void group_controls(struct counting *e)
{
	size_t at = 0;

	for (size_t i = 0; i < e->w->control_count; i++)
		if (e->w->controls[i].track.stack != NO_STACK)
			e->controls[e->control_count++] = &e->w->controls[i].track;
	qsort(e->controls, e->control_count, sizeof(*e->controls), by_stack);
	for (size_t i = 0; i < e->group_count; i++) {
		struct group *const group = &e->groups[i];

		while (at < e->control_count && e->controls[at]->stack < group->stack)
			at++;
		group->control_first = at;
		while (at < e->control_count && e->controls[at]->stack == group->stack)
			at++;
		group->control_end = at;
	}
}

static void group_samples(struct counting *e)
{
	const struct watch *const w = e->w;
	const struct sample **const all = xreallocarray(NULL, w->sample_count + 1, sizeof(*all));

	for (size_t i = 0; i < w->sample_count; i++)
		all[i] = &w->samples[i];
	qsort(all, w->sample_count, sizeof(*all), by_stack);
	for (size_t i = 0, end; i < w->sample_count; i = end) {
		const size_t first = e->count;

		for (end = i; end < w->sample_count && all[end]->track.stack == all[i]->track.stack; end++)
			;
		const double guard = guard_of(all + i, end - i);

		for (size_t j = i; j < end; j++)
			add_counted(e, all[j], guard);
		if (e->count == first)
			continue;
		ARRAY_GROW(e->groups, e->group_capacity, e->group_count);
		e->groups[e->group_count++] =
			(struct group){.stack = all[i]->track.stack, .first = first, .end = e->count};
	}
	free(all);
}

/* Returns by how many chunks a second a class grows: the slope of its counts, plus `errors` standard errors. */
static double slope_of(const struct census *census, unsigned looks, double look, double errors)
{
	const double n = (double)looks + 1 - census->since;
	double x = 0, y = 0, xx = 0, xy = 0, rest = 0;

	if (n < 3)
		return errors > 0 ? INFINITY : 0;
	for (unsigned k = census->since; k <= looks; k++) {
		x += k;
		y += (double)census->counts[k];
		xx += (double)k * k;
		xy += k * (double)census->counts[k];
	}
	const double slope = (n * xy - x * y) / (n * xx - x * x), base = (y - slope * x) / n;

	for (unsigned k = census->since; k <= looks; k++)
		rest += pow((double)census->counts[k] - base - slope * k, 2);
	const double limit = slope + errors * sqrt(rest / (n - 2) / (xx - x * x / n));

	return limit > 0 ? limit / look : 0;
}

#define STRATUM 8 /* windows */

/* Sets e->shares. The windows are divided into groups of consecutive ones (strata), and a window has the share of its
 * group: the work that was done in the group's windows, divided by the work from the group's beginning to its end. One
 * share for the whole watch would be wrong, because the controller changes the lengths and distances of windows, and
 * the program's load changes. */
static void set_shares(struct counting *e)
{
	const struct watch *const w = e->w;
	size_t count = w->window_count, begin = 0;

	while (count && w->windows[count - 1].end > w->looked)
		count--; /* what was allocated after the last look is not known yet */
	for (size_t i = count; i < w->window_count; i++)
		e->shares[i] = 1;
	while (begin < count) {
		const size_t end = count - begin < 2 * STRATUM ? count : begin + STRATUM;
		const uint64_t from = begin ? w->windows[begin].before : 0,
			       to = end < count ? w->windows[end].before : w->looked_work;
		double work = 0;

		for (size_t i = begin; i < end; i++)
			work += (double)w->windows[i].work;
		const double share = to > from && work > 0 ? work / (double)(to - from) : e->share;

		for (; begin < end; begin++)
			e->shares[begin] = share < 1 ? share : 1;
	}
}

void counting_begin(struct counting *e, const struct watch *w)
{
	double work = 0;

	*e = (struct counting){.w = w, .horizon = (double)(w->looked - w->began) / 1e9};
	for (size_t i = 0; i < w->window_count; i++)
		work += w->windows[i].end <= w->looked ? (double)w->windows[i].work : 0;
	e->share = work > 0 ? work / (double)w->looked_work : 1;
	e->shares = xreallocarray(NULL, w->window_count + 1, sizeof(*e->shares));
	set_shares(e);
	e->samples = xreallocarray(NULL, w->sample_count + 1, sizeof(*e->samples));
	e->controls = xreallocarray(NULL, w->control_count + 1, sizeof(*e->controls));
	e->slopes = xreallocarray(NULL, w->class_count + 1, sizeof(*e->slopes));
	e->least_slopes = xreallocarray(NULL, w->class_count + 1, sizeof(*e->least_slopes));
	group_samples(e);
	group_controls(e);
	e->chances = xreallocarray(NULL, e->count + 1, sizeof(*e->chances));
	for (size_t i = 0; i < w->class_count; i++) {
		const double look = e->horizon / w->looks;

		e->slopes[i] = is_counted(w, i) ? slope_of(&w->classes[i], w->looks, look, 2) : INFINITY;
		e->least_slopes[i] = is_counted(w, i) ? slope_of(&w->classes[i], w->looks, look, -2) : 0;
	}
}

void counting_end(struct counting *e)
{
	free(e->shares);
	free(e->samples);
	free(e->controls);
	free(e->groups);
	free(e->slopes);
	free(e->least_slopes);
	free(e->chances);
}
