/* Filters allocations by size, thread, time, age and stack. The release of an allocation is kept or dropped together
 * with it (select.h). */
#ifndef FT_ANALYSIS_SELECT_FILTER_H
#define FT_ANALYSIS_SELECT_FILTER_H

#include "analysis/clock.h"
#include "base/buf.h"

/* The filters of the command line. The caller owns the data to which the pointers point. */
struct filter_options {
	const char *size; /* text of --size; NULL if there is no such filter */
	uint64_t size_min, size_max;
	const char *thread; /* text of --thread; NULL if there is no such filter */
	const uint32_t *threads;
	size_t thread_count;
	const char *time; /* text of --time; NULL if there is no such filter */
	/* in nanoseconds since the first call; `to` is UINT64_MAX for the end of the trace */
	uint64_t from, to;
	/* Filters of blocks that are live at the end; NULL: no such filter. The age of a block is known only at the
	 * end, so with `older` the calls must be passed to the filter after the clock has got the last call. */
	const char *between, *older;
	uint64_t between_from, between_to, age;
};

/* Callbacks that filter by stack. They are needed because src/profile, a higher layer, finds the names of functions. */
struct stack_judge {
	/* Called for each record except calls, before it is passed on. */
	void (*note)(void *context, const struct record *record);
	bool (*fits)(void *context, const struct record_call *call);
	void *context;
	bool is_picky; /* releases whose allocation is unknown are rejected */
};

enum filter_step { FILTER_SIZE, FILTER_THREAD, FILTER_TIME, FILTER_AGE, FILTER_STACK, FILTER_STEPS };

struct filter {
	struct filter_options options;
	const struct trace_clock *clock; /* NULL if there is no filter by time or age */
	const struct stack_judge *judge; /* NULL if there is no filter by stack */
	uint32_t tid;                    /* the thread of the current calls; 0 if unknown */
	uint64_t calls;                  /* number of calls that were checked */
	/* number of calls that have passed each step; a call that fails a step is not checked by later ones */
	uint64_t passed[FILTER_STEPS];
};

/* Returns true if there is any filter other than those by stack. */
bool filter_options_want(const struct filter_options *options);
/* Returns true if there is a filter of blocks that are live at the end. */
static inline bool filter_options_want_alive(const struct filter_options *options)
{
	return options->between || options->older;
}

/* Must be called for each record that is not a call. */
void filter_note(struct filter *filter, const struct record *record);
/* Returns true if the call passes all filters. It must be an allocation, or a call that is neither an allocation nor a
 * release. */
bool filter_fits(struct filter *filter, const struct record_call *call);
/* Returns true if a block from before the trace passes all filters. Such a block passes every filter by age, and is
 * rejected by every filter by thread or time. */
bool filter_fits_before(struct filter *filter, const struct record_call *call);
/* Returns true if a release whose allocation is unknown passes the filters. */
bool filter_fits_stray(const struct filter *filter);
/* Must be called at the end. If no call has passed all filters, appends a line to `out` about the first filter that no
 * call has passed. Filters by stack, and of blocks that are live at the end, are not reported. */
void filter_report(const struct filter *filter, struct buf *out);

#endif
