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
};

/* Initialises the times of a trace. is_monotonic: the format's times are from CLOCK_MONOTONIC, not times of the day. */
void times_start(struct trace_times *times, bool has_times, bool is_monotonic);
/* Returns the current time for an event; TIME_NONE if the trace has no times. If the clock was set back, times continue
 * from the last time. */
uint64_t times_now(struct trace_times *times);
/* Returns the time to be written for an event: `ns`, but not earlier than the time of the last written event, because
 * this event may have been held back while the other event was written. */
uint64_t times_written(struct trace_times *times, uint64_t ns);

#endif
