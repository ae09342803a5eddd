/* Runs functrace-postproc for --report. */
#ifndef FT_FUNCTRACE_RUN_REPORT_H
#define FT_FUNCTRACE_RUN_REPORT_H

#include "engine/settings.h"

/* Checks that functrace-postproc accepts its options, and the files in them. Returns -1 if it accepts them; else the
 * exit status, after a message. */
int report_run_check(const struct settings *settings);
/* Called before tracing: sets where the traces and the list of traces are written, and sets settings->conclude. Returns
 * -1 if tracing may begin. Returns the exit status, after a message, if functrace-postproc is missing or refuses the
 * options. */
int report_run_begin(struct settings *settings);
/* Removes the folder of report_run_begin(), with the list and the traces in it. Keeps all of them if the list is too
 * long for a report. A second call does nothing. */
void report_run_end(const struct settings *settings);

#endif
