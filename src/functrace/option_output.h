/* -o and -z of functrace: where the trace is written, and how it is compressed. */
#ifndef FT_FUNCTRACE_OPTION_OUTPUT_H
#define FT_FUNCTRACE_OPTION_OUTPUT_H

#include "functrace/option_values.h"

/* Checks, when all options are known, that a trace can be written there, and sets what follows from the name.
 * Returns 0, or what usage_error() returns. */
int option_output_check(struct parse *parse);
/* Whether the trace goes to a terminal. */
bool option_is_for_terminal(const struct settings *s);

#endif
