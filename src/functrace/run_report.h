/* Runs functrace-postproc for --report. */
#ifndef FT_FUNCTRACE_RUN_REPORT_H
#define FT_FUNCTRACE_RUN_REPORT_H

#include "engine/settings.h"

/* Checks that functrace-postproc accepts its options and the files that these name. Returns -1 if so, else the exit
 * status after a message. */
int report_run_check(const struct settings *settings);
/* To be called before tracing: sets where the traces and their list are written, and settings->conclude. Returns -1
 * to go on, else the exit status after a message: functrace-postproc is missing, or refuses the options. */
int report_run_begin(struct settings *settings);
/* Removes the folder that report_run_begin() made, with its list and the traces in it. A second call does nothing. */
void report_run_end(const struct settings *settings);

#endif
