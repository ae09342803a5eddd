/* Filters allocations by size, thread, time, age and stack. The release of an allocation goes with it (select.h). */
#ifndef FT_ANALYSIS_SELECT_FILTER_H
#define FT_ANALYSIS_SELECT_FILTER_H

#include "analysis/clock.h"
#include "base/buf.h"

/* The filters as they were given. What the pointers lead to is the caller's. */
struct filter_options {
	const char *size; /* NULL: any */
	uint64_t size_min, size_max;
	const char *thread; /* NULL: any */
	const uint32_t *threads;
	size_t thread_count;
	const char *time;  /* NULL: any */
	uint64_t from, to; /* nanoseconds since the first call; `to` is UINT64_MAX for the end */
	/* Filters of what is alive at the end; NULL: none. An age can be compared only if calls come after the clock
	 * has seen the last one. */
	const char *between, *older;
	uint64_t between_from, between_to, age;
};

/* Callbacks that filter by stack, because names are resolved in another room. */
struct stack_judge {
	/* Gets each record except calls, before it is passed on. */
	void (*note)(void *context, const struct record *record);
	bool (*fits)(void *context, const struct record_call *call);
	void *context;
	bool is_picky; /* it rejects releases whose allocation is unknown */
};

enum filter_step { FILTER_SIZE, FILTER_THREAD, FILTER_TIME, FILTER_AGE, FILTER_STACK, FILTER_STEPS };

struct filter {
	struct filter_options options;
	const struct trace_clock *clock; /* NULL: there is no filter of time or age */
	const struct stack_judge *judge; /* NULL: there is no filter of stacks */
	uint32_t tid;                    /* of the calls that come now; 0 if unknown */
	uint64_t calls;                  /* that were checked */
	uint64_t passed[FILTER_STEPS];   /* calls that have passed the step; later steps see only these */
};

/* Returns true if there is any filter. */
bool filter_options_want(const struct filter_options *options);
/* Returns true if there is a filter of what is alive at the end. */
static inline bool filter_options_want_alive(const struct filter_options *options)
{
	return options->between || options->older;
}

/* Notes a record that is not a call. */
void filter_note(struct filter *filter, const struct record *record);
/* Returns true if an allocation fits, or a call that is neither an allocation nor a release. */
bool filter_fits(struct filter *filter, const struct record_call *call);
/* The same for a block from before the trace. It is older than any call, belongs to no thread, and was made at no time
 * of the trace. */
bool filter_fits_before(struct filter *filter, const struct record_call *call);
/* Returns true if a release fits whose allocation is unknown. */
bool filter_fits_stray(const struct filter *filter);
/* After the end: if nothing has fitted, appends a line to `out` about the filter that rejected the last allocations.
 * Filters of age and of stacks are not reported. */
void filter_report(const struct filter *filter, struct buf *out);

#endif
