/* Runs functrace-postproc for --report. */
#ifndef FT_FUNCTRACE_RUN_REPORT_H
#define FT_FUNCTRACE_RUN_REPORT_H

#include "engine/settings.h"

/* Whether functrace-postproc takes the options that are for it, and the files that these name. -1: it does; else the
 * status to end with, after a message. */
int report_run_check(const struct settings *settings);
/* Before tracing: sets where the traces and their list go, and what settings->conclude is. -1: go on; else the
 * status to end with, after a message: functrace-postproc is not there, or refuses the options. */
int report_run_begin(struct settings *settings);
/* Removes what was made for it, unless that is done already: to be called where no report was printed. */
void report_run_end(const struct settings *settings);

#endif
