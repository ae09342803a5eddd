/* -o and -z of functrace: the place of the trace, and its compression. */
#ifndef FT_FUNCTRACE_OPTION_OUTPUT_H
#define FT_FUNCTRACE_OPTION_OUTPUT_H

#include "functrace/option_values.h"

/* Checks that a trace can be written to the given place, and sets the properties that follow from its name. Called when
 * all options are known. Returns 0, or what usage_error() returns. */
int option_output_check(struct parse *parse);
/* Returns true if the trace is written to a terminal. */
bool option_is_for_terminal(const struct settings *s);

#endif
