/* The times of a trace's events. They never run backwards. */
#ifndef FT_RECORD_TIMES_H
#define FT_RECORD_TIMES_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct trace_times {
	bool has_times;
	uint64_t start_ns; /* CLOCK_REALTIME at the beginning of the trace, in ns */
	clockid_t clock;   /* the clock for the times of calls */
	/* the beginning of the day, in ns, which is subtracted from the clock; 0 for a monotonic clock */
	uint64_t day_ns;
	uint64_t shown_ns; /* the last value of the clock, in ns */
	uint64_t ahead_ns; /* time by which the clock was set back since the beginning, in ns */
	uint64_t last_ns;  /* time of the last event that was written */
	/* the clock's value at the event that is recorded now, if that is earlier than now; 0: it happens now */
	uint64_t event_ns;
	/* the distance of `clock` from CLOCK_MONOTONIC, in ns, and the time of CLOCK_MONOTONIC for which it was
	 * computed */
	uint64_t offset_ns, offset_at;
};

/* Initialises the times of a trace. is_monotonic: the format's times are from CLOCK_MONOTONIC, not times of the day. */
void times_start(struct trace_times *times, bool has_times, bool is_monotonic);
/* Returns the current time for an event; TIME_NONE if the trace has no times. If the clock was set back, times continue
 * from the last time. */
uint64_t times_now(struct trace_times *times);
/* Says that the events until the next call happened at this time of CLOCK_MONOTONIC, in ns; 0: they happen now. Time
 * before that of an earlier event is taken as that event's time, because clocks of processors differ a little. */
void times_at(struct trace_times *times, uint64_t monotonic_ns);
/* Returns the time to be written for an event: `ns`, but not earlier than the time of the last written event, because
 * this event may have been held back while the other event was written. */
uint64_t times_written(struct trace_times *times, uint64_t ns);

#endif
