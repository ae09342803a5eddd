/* The options of functrace-postproc that filter allocations (each with its release), for all kinds of output. */
#ifndef FT_POSTPROC_FILTER_OPTIONS_H
#define FT_POSTPROC_FILTER_OPTIONS_H

#include "analysis/select/filter.h"
#include "base/buf.h"
#include "profile/stack_filter.h"

#include <argp.h>

struct given;

struct postproc_filters {
	struct given *given;          /* where the options are noted, for conflicts */
	struct filter_options filter; /* filter.threads points to `threads` */
	uint32_t *threads;
	size_t thread_capacity;
	struct stack_filter_options stacks; /* stacks.patterns points to `patterns` */
	struct stack_pattern *patterns;
	size_t pattern_capacity;
	uint32_t min_count; /* the least number of allocations in a group; 0: any */
	struct buf words;   /* the options as the user gave them, for the report; empty if there are none */
};

/* A child of the program's argp parser; its input is the struct, zeroed at the beginning. */
extern const struct argp postproc_filter_argp;

void postproc_filters_free(struct postproc_filters *filters);

/* Whether an option other than --min-count is given. */
static inline bool postproc_filters_want(const struct postproc_filters *filters)
{
	return filter_options_want(&filters->filter) || filters->stacks.pattern_count;
}

/* Reads seconds with or without a fraction as nanoseconds. *end points after them. Returns false if there is no
 * number, or one that is negative or above 1e9. */
bool postproc_parse_seconds(const char *text, uint64_t *ns, char **end);

#endif
