/* --report and its options, which functrace passes to functrace-postproc after tracing. */
#ifndef FT_FUNCTRACE_OPTION_REPORT_H
#define FT_FUNCTRACE_OPTION_REPORT_H

#include "functrace/option_values.h"

#include <argp.h>

/* A child of the program's argp parser; its input is a struct parse. */
extern const struct argp option_report_argp;
/* Stores the command line without functrace's own --report in settings->report.again, for commands that the report
 * suggests. */
void option_report_keep_words(struct settings *settings, int argc, char **argv);
void option_report_free(struct settings *settings);

#endif
