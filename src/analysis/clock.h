/* Measures the start and the length of a trace. The clock is a stage before the filters of calls, so that it gets all
 * calls of the chosen resources. */
#ifndef FT_ANALYSIS_CLOCK_H
#define FT_ANALYSIS_CLOCK_H

#include "analysis/stage.h"
#include "base/buf.h"
#include "base/time_units.h"

/* A time is in nanoseconds since the first call. If the trace has no times, the unit is a call, and a time is the
 * difference between the indices of a call and the first call. Filters drop calls, but do not change these times. */
struct trace_clock {
	bool has_begun, has_times;
	uint64_t first_ns;    /* time of the first call, as in its record */
	uint64_t first_index; /* index of the first call */
	uint64_t last;        /* the latest time of a call so far, in the unit above */
};

/* Makes the stage. It passes on all records unchanged. */
struct stage *clock_new(struct stage *next);
/* Returns the clock of the stage. It is valid as long as the stage. */
const struct trace_clock *clock_of(const struct stage *stage);

/* Updates the clock with the next call of a trace: the first call sets first_ns and first_index, and each call that has
 * a later time than all before sets `last`. The stage does this for each call. A clock that is used without a stage
 * must be zeroed first. */
void clock_take(struct trace_clock *clock, const struct record_call *call);
/* Returns the time of a call that the clock has taken. */
uint64_t clock_since(const struct trace_clock *clock, const struct record_call *call);
/* Converts nanoseconds from an option to the clock's unit. In a trace without times, each second of the option means
 * one call. */
uint64_t clock_span(const struct trace_clock *clock, uint64_t ns);

/* Appends a time since the first call: "3.988 s", or "7 calls". */
void clock_add_time(struct buf *out, bool has_times, uint64_t since);

/* Returns time_ns - first_ns; both are times in records. If time_ns is earlier by half a day or more, it is a time of
 * the next day, because times in compat traces are modulo 24 hours. If time_ns is earlier by less than half a day,
 * returns 0, because a call that is written late has the time of its entry, which may be before the first call. */
static inline uint64_t time_from(uint64_t first_ns, uint64_t time_ns)
{
	const uint64_t day = NS_PER_DAY;

	if (time_ns >= first_ns)
		return time_ns - first_ns;
	return first_ns - time_ns < day / 2 ? 0 : time_ns - first_ns + day;
}

#endif
