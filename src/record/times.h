/* The times of a trace's events, which never run backward. */
#ifndef FT_RECORD_TIMES_H
#define FT_RECORD_TIMES_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct trace_times {
	bool has_times;
	uint64_t start_ns; /* CLOCK_REALTIME at the trace's beginning */
	clockid_t clock;   /* the clock of call times */
	uint64_t day_ns;   /* subtracted from the clock: the beginning of the day, or 0 */
	uint64_t shown_ns; /* what the clock showed last */
	uint64_t ahead_ns; /* by how much the clock has been set back since the beginning */
	uint64_t last_ns;  /* the time of the event that was written last */
};

/* Starts the times of a trace that begins. is_monotonic: the format counts from the machine's start, not from
 * midnight. */
void times_start(struct trace_times *times, bool has_times, bool is_monotonic);
/* Returns the time of an event that happens now; TIME_NONE if the trace has no times. If the clock is set back, times
 * continue from the last one. */
uint64_t times_now(struct trace_times *times);
/* Returns the time to write with an event: its own, but not earlier than that of the event written before it, because
 * the event may have been held back for that one. */
uint64_t times_written(struct trace_times *times, uint64_t ns);

#endif
