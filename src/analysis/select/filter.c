#include "config.h"
#include "analysis/select/filter.h"
#include "base/time_units.h"

#include <inttypes.h>

bool filter_options_want(const struct filter_options *options)
{
	return options->size || options->thread || options->time || filter_options_want_alive(options);
}

void filter_note(struct filter *filter, const struct record *record)
{
	if (record->type == RECORD_THREAD)
		filter->tid = record->thread.tid;
	if (filter->judge)
		filter->judge->note(filter->judge->context, record);
}

static bool has_thread(const struct filter *filter)
{
	for (size_t i = 0; i < filter->options.thread_count; i++)
		if (filter->options.threads[i] == filter->tid)
			return true;
	return false;
}

static bool is_in_time(const struct filter *filter, const struct record_call *call)
{
	const struct filter_options *options = &filter->options;
	const uint64_t since = clock_since(filter->clock, call);

	if (options->time && (since < clock_span(filter->clock, options->from) ||
			      (options->to != UINT64_MAX && since > clock_span(filter->clock, options->to))))
		return false;
	return !options->between || (since >= clock_span(filter->clock, options->between_from) &&
				     since <= clock_span(filter->clock, options->between_to));
}

static bool is_old(const struct filter *filter, const struct record_call *call)
{
	const struct trace_clock *clock = filter->clock;

	return clock->last - clock_since(clock, call) >= clock_span(clock, filter->options.age);
}

/* Returns true if the call passes one step. is_before: the call describes a block from before the trace, whose thread
 * and time are unknown. */
static bool fits_step(const struct filter *filter, enum filter_step step, const struct record_call *call,
		      bool is_before)
{
	const struct filter_options *options = &filter->options;

	switch (step) {
	case FILTER_SIZE:
		return !options->size || (call->size >= options->size_min && call->size <= options->size_max);
	case FILTER_THREAD:
		return !options->thread || (!is_before && has_thread(filter));
	case FILTER_TIME:
		return (!options->time && !options->between) || (!is_before && is_in_time(filter, call));
	case FILTER_AGE:
		return !options->older || is_before || is_old(filter, call);
	default:
		return !filter->judge || filter->judge->fits(filter->judge->context, call);
	}
}

static bool filter_accepts(struct filter *filter, const struct record_call *call, bool is_before)
{
	filter->calls++;
	/* Looking up names takes most time, so stacks are compared last. */
	for (enum filter_step step = 0; step < FILTER_STEPS; step++) {
		if (!fits_step(filter, step, call, is_before))
			return false;
		filter->passed[step]++;
	}
	return true;
}

bool filter_fits(struct filter *filter, const struct record_call *call)
{
	return filter_accepts(filter, call, false);
}

bool filter_fits_before(struct filter *filter, const struct record_call *call)
{
	return filter_accepts(filter, call, true);
}

bool filter_fits_stray(const struct filter *filter)
{
	return !filter_options_want(&filter->options) && !(filter->judge && filter->judge->is_picky);
}

static void add_reason(const struct filter *filter, enum filter_step step, struct buf *out)
{
	const struct filter_options *options = &filter->options;

	if (step == FILTER_SIZE)
		buf_printf(out, "--size=%s matches nothing: no allocation has such a size\n", options->size);
	else if (step == FILTER_THREAD)
		buf_printf(out, "--thread=%s matches nothing: no allocation%s was made by such a thread\n",
			   options->thread, options->size ? " of that size" : "");
	else if (step == FILTER_TIME && options->time && filter->clock->has_times)
		buf_printf(out,
			   "--time=%s matches nothing: the trace is %" PRIu64 ".%03" PRIu64 " s long, and no "
			   "allocation that the other filters choose was made in that time\n",
			   options->time, filter->clock->last / NS_PER_SECOND, filter->clock->last / 1000000 % 1000);
	else if (step == FILTER_TIME && options->time)
		buf_printf(
			out,
			"--time=%s matches nothing: the trace has no times, so --time takes numbers of calls, and the "
			"trace has %" PRIu64 " calls\n",
			options->time, filter->clock->last + 1);
}

void filter_report(const struct filter *filter, struct buf *out)
{
	enum filter_step step = 0;

	while (step < FILTER_STEPS && filter->passed[step])
		step++;
	if (filter->calls && step < FILTER_STEPS)
		add_reason(filter, step, out);
}
