#include "config.h"
#include "analysis/clock.h"
#include "base/time_units.h"

#include <inttypes.h>
#include <stdlib.h>

struct clock_stage {
	struct stage stage;
	struct trace_clock clock;
};

uint64_t clock_since(const struct trace_clock *clock, const struct record_call *call)
{
	if (!clock->has_times)
		return call->index > clock->first_index ? call->index - clock->first_index : 0;
	return call->time_ns == TIME_NONE ? clock->last : time_from(clock->first_ns, call->time_ns);
}

uint64_t clock_span(const struct trace_clock *clock, uint64_t ns)
{
	return clock->has_times ? ns : ns / NS_PER_SECOND;
}

void clock_take(struct trace_clock *clock, const struct record_call *call)
{
	if (!clock->has_begun)
		*clock = (struct trace_clock){
			.has_begun = true,
			.has_times = call->time_ns != TIME_NONE,
			.first_ns = call->time_ns,
			.first_index = call->index,
		};
	const uint64_t since = clock_since(clock, call);

	if (since > clock->last)
		clock->last = since;
}

static int clock_put(struct stage *stage, const struct record *record)
{
	if (record->type == RECORD_CALL)
		clock_take(&((struct clock_stage *)stage)->clock, &record->call);
	return stage_put(stage->next, record);
}

static void clock_free(struct stage *stage)
{
	free(stage);
}

const struct trace_clock *clock_of(const struct stage *stage)
{
	return &((const struct clock_stage *)stage)->clock;
}

struct stage *clock_new(struct stage *next)
{
	struct clock_stage *clock = xmalloc(sizeof(*clock));

	*clock = (struct clock_stage){
		.stage = {.put = clock_put, .finish = stage_finish_next, .free = clock_free, .next = next}};
	return &clock->stage;
}

void clock_add_time(struct buf *out, bool has_times, uint64_t since)
{
	if (has_times)
		buf_printf(out, "%.3f s", (double)since / 1e9);
	else
		buf_printf(out, "%" PRIu64 " call%s", since, since == 1 ? "" : "s");
}
