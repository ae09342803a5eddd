/* What of functrace's options does not go together. */
#ifndef FT_FUNCTRACE_OPTION_CONFLICTS_H
#define FT_FUNCTRACE_OPTION_CONFLICTS_H

#include "functrace/option_values.h"

/* Before the output is looked at: what the options ask for at all. 0, or what usage_error() returns. */
int option_conflicts_of_task(struct parse *parse);
/* Of a task that traces, when the output, the modules and the format are known. */
int option_conflicts_of_trace(struct parse *parse);

#endif
