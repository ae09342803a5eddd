/* When the trace began and how long it is, as all of its calls say: what passes behind a filter does not know it. */
#ifndef FT_ANALYSIS_CLOCK_H
#define FT_ANALYSIS_CLOCK_H

#include "analysis/stage.h"
#include "base/buf.h"

/* Times are nanoseconds since the first call, or calls where the trace has no times. */
struct trace_clock {
	bool has_begun, has_times;
	uint64_t first_ns;    /* of the first call, as in its record */
	uint64_t first_index; /* its number */
	uint64_t last;        /* of the last call */
};

/* Hands everything on, and looks at the calls. */
struct stage *clock_new(struct stage *next);
/* The stage's; valid as long as it. */
const struct trace_clock *clock_of(const struct stage *stage);

/* When a call was that the clock has seen, now or before. */
uint64_t clock_since(const struct trace_clock *clock, const struct record_call *call);
/* Nanoseconds that a user gives, in the trace's unit: without times each second stands for a call. */
uint64_t clock_span(const struct trace_clock *clock, uint64_t ns);

/* Appends a time since the first call: "3.988 s", or "7 calls". */
void clock_add_time(struct buf *out, bool has_times, uint64_t since);

/* From one time of a record to another, both known. Compat traces count their milliseconds modulo 24 hours; a call
 * whose time was taken at its entry may be written a little late, as if it were before the first. */
static inline uint64_t time_from(uint64_t first_ns, uint64_t time_ns)
{
	const uint64_t day = 86400ull * 1000000000;

	if (time_ns >= first_ns)
		return time_ns - first_ns;
	return first_ns - time_ns < day / 2 ? 0 : time_ns - first_ns + day;
}

#endif
