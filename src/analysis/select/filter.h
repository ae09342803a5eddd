/* What is asked of an allocation: its size, its thread, when it was, what its stack goes through. Its release goes with
 * it (select.h). */
#ifndef FT_ANALYSIS_SELECT_FILTER_H
#define FT_ANALYSIS_SELECT_FILTER_H

#include "analysis/clock.h"
#include "base/buf.h"

/* As it was given; what the pointers point at is the caller's. */
struct filter_options {
	const char *size; /* NULL: any */
	uint64_t size_min, size_max;
	const char *thread; /* NULL: any */
	const uint32_t *threads;
	size_t thread_count;
	const char *time;  /* NULL: whenever */
	uint64_t from, to; /* nanoseconds since the first call; to UINT64_MAX: the end */
	/* These are about what is alive at the end; NULL: whenever, of any age. An age can be asked only where calls
	 * come when the clock has seen the last one. */
	const char *between, *older;
	uint64_t between_from, between_to, age;
};

/* Who knows names looks at the stacks. */
struct stack_judge {
	/* Each record but calls, before it goes on. */
	void (*note)(void *context, const struct record *record);
	bool (*fits)(void *context, const struct record_call *call);
	void *context;
	bool is_picky; /* nothing fits whose allocation is not known */
};

enum filter_step { FILTER_SIZE, FILTER_THREAD, FILTER_TIME, FILTER_AGE, FILTER_STACK, FILTER_STEPS };

struct filter {
	struct filter_options options;
	const struct trace_clock *clock; /* NULL: neither time nor age is asked */
	const struct stack_judge *judge; /* NULL: nothing is asked of stacks */
	uint32_t tid;                    /* of the calls that come now; 0 unknown */
	uint64_t calls;                  /* that were looked at */
	uint64_t passed[FILTER_STEPS];   /* that have come past this step; later ones see no others */
};

/* Whether anything is asked. */
bool filter_options_want(const struct filter_options *options);
/* Whether what is asked chooses among what is alive at the end. */
static inline bool filter_options_want_alive(const struct filter_options *options)
{
	return options->between || options->older;
}

/* A record other than a call passes. */
void filter_note(struct filter *filter, const struct record *record);
/* Whether the allocation, or a call that is none, fits. */
bool filter_fits(struct filter *filter, const struct record_call *call);
/* The same of a block from before the trace: it is older than any call and no thread's, and was made at no time of the
 * trace. */
bool filter_fits_before(struct filter *filter, const struct record_call *call);
/* Whether a release whose allocation is not known does. */
bool filter_fits_stray(const struct filter *filter);
/* After the end: appends a line to `out` about what was asked in vain, if nothing fitted. What stacks were asked is not
 * looked at. */
void filter_report(const struct filter *filter, struct buf *out);

#endif
