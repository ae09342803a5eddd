/* --report and what goes with it: functrace-postproc prints it when tracing has ended. */
#ifndef FT_OPTION_REPORT_H
#define FT_OPTION_REPORT_H

#include "option_values.h"

/* Keeps an option for functrace-postproc, which knows its values: `name` as in "report"; arg may be NULL. */
void option_report(struct parse *parse, const char *name, const char *arg);
/* When all options are known: whether they go together. 0, or what usage_error() returns. */
int option_report_check(struct parse *parse);
void option_report_free(struct settings *settings);

#endif
