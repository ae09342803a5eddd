/* --report and what goes with it: functrace-postproc prints it when tracing has ended. */
#ifndef FT_FUNCTRACE_OPTION_REPORT_H
#define FT_FUNCTRACE_OPTION_REPORT_H

#include "functrace/option_values.h"

#include <argp.h>

/* A child of the program's parser; its input is the struct parse. */
extern const struct argp option_report_argp;
/* Keeps the command line, but for --report itself: what a report's own hints repeat. */
void option_report_keep_words(struct settings *settings, int argc, char **argv);
void option_report_free(struct settings *settings);

#endif
