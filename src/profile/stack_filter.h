/* Which stacks are wanted, by the names of their frames: patterns that users give, and leaks that are suppressed. */
#ifndef FT_PROFILE_STACK_FILTER_H
#define FT_PROFILE_STACK_FILTER_H

#include "analysis/select/filter.h"
#include "analysis/leaks/leaks.h"
#include "profile/suppressions.h"
#include "symbols/names/names.h"

/* Names of functions match as the trace shows them, with their parameters or without; objects by their path or the name
 * of their file. The function that allocates is the innermost frame. */
enum stack_pattern_kind { STACK_FUNCTION, STACK_NOT_FUNCTION, STACK_OBJECT, STACK_PATTERN_KINDS };

struct stack_pattern {
	enum stack_pattern_kind kind;
	const char *text; /* base/glob.h */
};

/* Of each kind any one is to match, of STACK_NOT_FUNCTION none. What the pointers point at is the caller's. */
struct stack_filter_options {
	const struct stack_pattern *patterns;
	size_t pattern_count;
	struct suppressions *suppressions; /* NULL: none. Their `used` stays as it is */
};

struct stack_filter;

/* names: of the trace's objects, which get them as the records pass; NULL: frames have the names that the trace says.
 * Memory is proportional to the distinct stacks. */
struct stack_filter *stack_filter_new(const struct stack_filter_options *options, struct names *names);
void stack_filter_free(struct stack_filter *filter);
/* The stage of -l whose leaks are judged: suppressions are for kinds of these. Without it all count as definitely
 * lost. */
void stack_filter_set_leaks(struct stack_filter *filter, const struct stage *leaks);
/* As a filter wants it; the stack filter's. */
const struct stack_judge *stack_filter_judge(const struct stack_filter *filter);

/* After the end: appends a line about each pattern that was to match and never did. */
void stack_filter_report(const struct stack_filter *filter, struct buf *out);
/* What the suppressions have left out, a line each: "suppressed: 56 bytes in 2 blocks: NAME (FILE:LINE)".
 * context: the filter. */
void stack_filter_suppressed(const void *context, struct buf *out);

#endif
