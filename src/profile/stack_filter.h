/* Selects stacks by the names of their frames: those that match the user's patterns and no suppression. */
#ifndef FT_PROFILE_STACK_FILTER_H
#define FT_PROFILE_STACK_FILTER_H

#include "analysis/select/filter.h"
#include "analysis/leaks/leaks.h"
#include "profile/suppressions.h"
#include "symbols/names/names.h"

/* Function patterns match a name as the trace shows it, with or without the parameters. Object patterns match a path or
 * a file name. The function that allocates is compared as the innermost frame of the stack. */
enum stack_pattern_kind { STACK_FUNCTION, STACK_NOT_FUNCTION, STACK_OBJECT, STACK_PATTERN_KINDS };

struct stack_pattern {
	enum stack_pattern_kind kind;
	const char *text; /* a glob (base/glob.h) */
};

/* A stack is selected if it matches no suppression, no pattern of STACK_NOT_FUNCTION and, for each other kind that has
 * patterns, at least one pattern of this kind. The caller owns the arrays and strings. */
struct stack_filter_options {
	const struct stack_pattern *patterns;
	size_t pattern_count;
	struct suppressions *suppressions; /* NULL: none; the filter does not change their `used` */
};

struct stack_filter;

/* Returns a new stack filter. names: the trace's objects are added there when their records arrive; NULL: frames get
 * the names in the trace. Memory is proportional to the number of distinct stacks. */
struct stack_filter *stack_filter_new(const struct stack_filter_options *options, struct names *names);
void stack_filter_free(struct stack_filter *filter);
/* Sets the stage of -l, whose leaks the filter judges. The filter asks that stage for the kind of a leak, on which
 * suppressions depend. Without this stage all leaks are taken as definitely lost. */
void stack_filter_set_leaks(struct stack_filter *filter, const struct stage *leaks);
/* Returns the judge for struct filter; it is owned by the stack filter. */
const struct stack_judge *stack_filter_judge(const struct stack_filter *filter);

/* Appends a line for each pattern that should match some stack and matched none. Call it after the end of the trace. */
void stack_filter_report(const struct stack_filter *filter, struct buf *out);
/* Appends a line for each suppression that has suppressed blocks: "suppressed: 56 bytes in 2 blocks: NAME (FILE:LINE)".
 * context: the stack filter. */
void stack_filter_suppressed(const void *context, struct buf *out);

#endif
