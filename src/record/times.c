#include "config.h"
#include "record/times.h"
#include "trace/event.h"
#include "base/util.h"
#include "base/time_units.h"

void times_start(struct trace_times *times, bool has_times, bool is_monotonic)
{
	*times = (struct trace_times){.has_times = has_times,
				      .start_ns = clock_ns(CLOCK_REALTIME),
				      .clock = is_monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME};
	if (!is_monotonic)
		times->day_ns = times->start_ns - times->start_ns % NS_PER_DAY;
}

uint64_t times_now(struct trace_times *times)
{
	if (!times->has_times)
		return TIME_NONE;
	const uint64_t now = times->event_ns ? times->event_ns : clock_ns(times->clock);

	if (now < times->shown_ns && times->event_ns)
		return times->shown_ns + times->ahead_ns - times->day_ns;
	if (now < times->shown_ns)
		times->ahead_ns += times->shown_ns - now;
	times->shown_ns = now;
	return now + times->ahead_ns - times->day_ns;
}

#define OFFSET_NS 1000000u /* the clocks' distance is computed again after this time, because reading clocks is slow */

void times_at(struct trace_times *times, uint64_t monotonic_ns)
{
	if (!monotonic_ns || !times->has_times || times->clock == CLOCK_MONOTONIC) {
		times->event_ns = monotonic_ns;
		return;
	}
	if (monotonic_ns - times->offset_at > OFFSET_NS) {
		times->offset_at = monotonic_ns;
		times->offset_ns = clock_ns(times->clock) - clock_ns(CLOCK_MONOTONIC);
	}
	times->event_ns = monotonic_ns + times->offset_ns;
}

uint64_t times_written(struct trace_times *times, uint64_t ns)
{
	if (ns == TIME_NONE)
		return TIME_NONE;
	if (ns > times->last_ns)
		times->last_ns = ns;
	return times->last_ns;
}
