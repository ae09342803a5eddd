/* Selects stacks by the names of their frames: with patterns that users give, and without suppressed leaks. */
#ifndef FT_PROFILE_STACK_FILTER_H
#define FT_PROFILE_STACK_FILTER_H

#include "analysis/select/filter.h"
#include "analysis/leaks/leaks.h"
#include "profile/suppressions.h"
#include "symbols/names/names.h"

/* Names of functions match as the trace shows them, with or without their parameters; objects match by their path or by
 * the name of their file. The function that allocates is the innermost frame. */
enum stack_pattern_kind { STACK_FUNCTION, STACK_NOT_FUNCTION, STACK_OBJECT, STACK_PATTERN_KINDS };

struct stack_pattern {
	enum stack_pattern_kind kind;
	const char *text; /* a glob (base/glob.h) */
};

/* Of each kind at least one pattern has to match, of STACK_NOT_FUNCTION none may. The caller owns what the pointers
 * point to. */
struct stack_filter_options {
	const struct stack_pattern *patterns;
	size_t pattern_count;
	struct suppressions *suppressions; /* NULL: none. Their `used` does not change */
};

struct stack_filter;

/* names: gets the trace's objects as the records pass; NULL: frames have the names in the trace. Memory is proportional
 * to the distinct stacks. */
struct stack_filter *stack_filter_new(const struct stack_filter_options *options, struct names *names);
void stack_filter_free(struct stack_filter *filter);
/* Sets the stage of -l whose leaks are judged, because suppressions are for kinds of leaks. Without it all count as
 * definitely lost. */
void stack_filter_set_leaks(struct stack_filter *filter, const struct stage *leaks);
/* Returns the judge for struct filter. The stack filter owns it. */
const struct stack_judge *stack_filter_judge(const struct stack_filter *filter);

/* Call it after the end: appends a line for each pattern that had to match and never did. */
void stack_filter_report(const struct stack_filter *filter, struct buf *out);
/* Appends a line for each suppression that has left out blocks: "suppressed: 56 bytes in 2 blocks: NAME (FILE:LINE)".
 * context: the filter. */
void stack_filter_suppressed(const void *context, struct buf *out);

#endif
