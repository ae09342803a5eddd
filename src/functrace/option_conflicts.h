/* Finds options of functrace that exclude each other, and options that need another option that is not given. */
#ifndef FT_FUNCTRACE_OPTION_CONFLICTS_H
#define FT_FUNCTRACE_OPTION_CONFLICTS_H

#include "functrace/option_values.h"

/* Checks the options that select a task: tracing, a scan or a repair, and the processes. Called before the output is
 * checked. Returns 0, or what usage_error() returns. */
int option_conflicts_of_task(struct parse *parse);
/* Checks the options for tracing. Called when output, modules and format are known. Returns 0, or what usage_error()
 * returns. */
int option_conflicts_of_trace(struct parse *parse);

#endif
