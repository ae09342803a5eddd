/* The times of a trace's events, which never run backward. */
#ifndef FT_RECORD_TIMES_H
#define FT_RECORD_TIMES_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct trace_times {
	bool has_times;
	uint64_t start_ns; /* CLOCK_REALTIME at the trace's beginning */
	clockid_t clock;   /* the one that call times are taken from */
	uint64_t day_ns;   /* what to take off it */
	uint64_t shown_ns; /* what it showed last */
	uint64_t ahead_ns; /* how far it has been set back since the beginning */
	uint64_t last_ns;  /* the time of the event that was written last */
};

/* A trace begins now. is_monotonic: its format counts from the machine's start, not from midnight. */
void times_start(struct trace_times *times, bool has_times, bool is_monotonic);
/* The time of an event that happens now; TIME_NONE where the trace has none. A clock that is set back goes on from
 * where it was. */
uint64_t times_now(struct trace_times *times);
/* The time with which an event is written: its own, but not an earlier one than that of the event before it, which it
 * was held back for. */
uint64_t times_written(struct trace_times *times, uint64_t ns);

#endif
