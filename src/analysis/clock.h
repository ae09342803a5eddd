/* Measures when the trace began and how long it is. The clock sees all calls; stages after a filter do not. */
#ifndef FT_ANALYSIS_CLOCK_H
#define FT_ANALYSIS_CLOCK_H

#include "analysis/stage.h"
#include "base/buf.h"

/* Times are in nanoseconds since the first call, or in calls if the trace has no times. */
struct trace_clock {
	bool has_begun, has_times;
	uint64_t first_ns;    /* time of the first call, as in its record */
	uint64_t first_index; /* number of the first call */
	uint64_t last;        /* the time of the last call */
};

/* Makes a stage that passes on everything, and reads the calls' times. */
struct stage *clock_new(struct stage *next);
/* Returns the stage's clock, which is valid as long as the stage. */
const struct trace_clock *clock_of(const struct stage *stage);

/* Returns the time of a call that the clock has seen. */
uint64_t clock_since(const struct trace_clock *clock, const struct record_call *call);
/* Converts nanoseconds that a user gave to the trace's unit: without times, a second counts as a call. */
uint64_t clock_span(const struct trace_clock *clock, uint64_t ns);

/* Appends a time since the first call: "3.988 s", or "7 calls". */
void clock_add_time(struct buf *out, bool has_times, uint64_t since);

/* Returns how much later time_ns is than first_ns; both are times of records. Compat traces count milliseconds modulo
 * 24 hours. A call that was written late, with the time of its entry, may seem to be before the first one; for it the
 * result is 0. */
static inline uint64_t time_from(uint64_t first_ns, uint64_t time_ns)
{
	const uint64_t day = 86400ull * 1000000000;

	if (time_ns >= first_ns)
		return time_ns - first_ns;
	return first_ns - time_ns < day / 2 ? 0 : time_ns - first_ns + day;
}

#endif
