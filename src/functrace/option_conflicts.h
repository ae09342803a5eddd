/* Finds options of functrace that do not go together. */
#ifndef FT_FUNCTRACE_OPTION_CONFLICTS_H
#define FT_FUNCTRACE_OPTION_CONFLICTS_H

#include "functrace/option_values.h"

/* Checks which task the options ask for: tracing, a scan or a repair, and of which processes. To be called before
 * the output is checked. Returns 0, or what usage_error() returns. */
int option_conflicts_of_task(struct parse *parse);
/* Checks the options of a run that traces, when output, modules and format are known. Returns the same. */
int option_conflicts_of_trace(struct parse *parse);

#endif
