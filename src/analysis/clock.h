/* Measures the start and the length of a trace. The clock is a stage before all filters, so that it gets all calls. */
#ifndef FT_ANALYSIS_CLOCK_H
#define FT_ANALYSIS_CLOCK_H

#include "analysis/stage.h"
#include "base/buf.h"

/* Times are in nanoseconds since the first call. If the trace has no times, they are in calls: the difference of the
 * indices of two calls, so that a filter, which leaves calls out, changes no time. */
struct trace_clock {
	bool has_begun, has_times;
	uint64_t first_ns;    /* time of the first call, as in its record */
	uint64_t first_index; /* index of the first call */
	uint64_t last;        /* time of the last call so far, in the unit above */
};

/* Makes the stage. It passes on all records unchanged. */
struct stage *clock_new(struct stage *next);
/* Returns the clock of the stage. It is valid as long as the stage. */
const struct trace_clock *clock_of(const struct stage *stage);

/* Takes the next call of a trace. The stage does this for each call; a clock without a stage begins as {0}. */
void clock_take(struct trace_clock *clock, const struct record_call *call);
/* Returns the time of a call that the clock has taken. */
uint64_t clock_since(const struct trace_clock *clock, const struct record_call *call);
/* Converts nanoseconds from an option to the clock's unit. Without times, a second is taken as one call. */
uint64_t clock_span(const struct trace_clock *clock, uint64_t ns);

/* Appends a time since the first call: "3.988 s", or "7 calls". */
void clock_add_time(struct buf *out, bool has_times, uint64_t since);

/* Returns time_ns - first_ns; both are times in records. If time_ns is more than half a day earlier, it is a time of
 * the next day, because times in compat traces are modulo 24 hours. If it is less than half a day earlier, returns 0: a
 * call that is written late, with the time of its entry, may precede the first call. */
static inline uint64_t time_from(uint64_t first_ns, uint64_t time_ns)
{
	const uint64_t day = 86400ull * 1000000000;

	if (time_ns >= first_ns)
		return time_ns - first_ns;
	return first_ns - time_ns < day / 2 ? 0 : time_ns - first_ns + day;
}

#endif
