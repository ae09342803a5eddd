/* -o and -z of functrace: where the trace goes, and how. */
#ifndef FT_FUNCTRACE_OPTION_OUTPUT_H
#define FT_FUNCTRACE_OPTION_OUTPUT_H

#include "functrace/option_values.h"

/* When all options are known: whether a trace can be written there; sets what follows from the name. 0, or what
 * usage_error() returns. */
int option_output_check(struct parse *parse);
/* Whether the trace goes to a terminal. */
bool option_is_for_terminal(const struct settings *s);

#endif
