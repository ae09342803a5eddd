/* The options of functrace-postproc that choose allocations, each with its release, for whatever is made of them. */
#ifndef FT_POSTPROC_FILTER_OPTIONS_H
#define FT_POSTPROC_FILTER_OPTIONS_H

#include "analysis/select/filter.h"
#include "base/buf.h"
#include "profile/stack_filter.h"

#include <argp.h>

struct given;

struct postproc_filters {
	struct given *given;          /* where the options are noted */
	struct filter_options filter; /* its threads are those below */
	uint32_t *threads;
	size_t thread_capacity;
	struct stack_filter_options stacks; /* its patterns are those below */
	struct stack_pattern *patterns;
	size_t pattern_capacity;
	uint32_t min_count; /* of a group; 0: any */
	struct buf words;   /* as they were given, for people; empty: none was */
};

/* A child of the program's parser; its input is the struct, which begins as zeros. */
extern const struct argp postproc_filter_argp;

void postproc_filters_free(struct postproc_filters *filters);

/* Whether any of them is given but min_count. */
static inline bool postproc_filters_want(const struct postproc_filters *filters)
{
	return filter_options_want(&filters->filter) || filters->stacks.pattern_count;
}

/* Seconds with a fraction, as nanoseconds. *end: what is behind them. False if there are none, or far too many. */
bool postproc_parse_seconds(const char *text, uint64_t *ns, char **end);

#endif
