/* The options of functrace-postproc that filter allocations, together with their releases, for all kinds of output. */
#ifndef FT_POSTPROC_FILTER_OPTIONS_H
#define FT_POSTPROC_FILTER_OPTIONS_H

#include "analysis/select/filter.h"
#include "base/buf.h"
#include "profile/stack_filter.h"

#include <argp.h>

struct given;

struct postproc_filters {
	struct given *given; /* the list to which given options are added, for detecting conflicts */
	/* filters by size, thread, time and age; filter.threads points to `threads` */
	struct filter_options filter;
	uint32_t *threads;
	size_t thread_capacity;
	struct stack_filter_options stacks; /* filters by stack; stacks.patterns points to `patterns` */
	struct stack_pattern *patterns;
	size_t pattern_capacity;
	uint32_t min_count; /* the minimum number of allocations in a group; 0: any number */
	/* The given options that select calls, from all tables of options, as words for a shell; without --min-count,
	 * which selects groups. Empty if there are none. */
	struct buf words;
	bool chooses_calls; /* `words` has an option other than --pid, which selects a process */
};

/* A child parser for the program's argp parser. Its input is a struct postproc_filters, which must be zero at first. */
extern const struct argp postproc_filter_argp;

/* Appends an option of the table with its value, quoted for a shell: "-C Req", "--function='f*'". value: NULL if the
 * option has none. */
void option_words_add(struct buf *words, const struct argp_option *table, int key, const char *value);

void postproc_filters_free(struct postproc_filters *filters);

/* Returns true if a filter option other than --min-count is given. */
static inline bool postproc_filters_want(const struct postproc_filters *filters)
{
	return filter_options_want(&filters->filter) || filters->stacks.pattern_count;
}

/* Parses seconds, with or without a fraction, and converts them to nanoseconds. Sets *end to the address after the
 * number. Returns false if there is no number, or if it is negative or above 1e9. */
bool postproc_parse_seconds(const char *text, uint64_t *ns, char **end);

#endif
