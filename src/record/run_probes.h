/* How the calls of a run were seen: by probes in the kernel or by breakpoints, and why. */
#ifndef FT_RECORD_RUN_PROBES_H
#define FT_RECORD_RUN_PROBES_H

#include "record/run.h"

/* Notes that the kernel probes an allocator's function (why is NULL), or that the function has a breakpoint instead.
 * function: its name; why: a phrase, a static string. */
void run_probes_note(struct run *run, const char *function, const char *why);
/* Notes that there are no probes in the kernel. why: a sentence without its full stop. */
void run_probes_missing(struct run *run, const char *why);
/* Prints the line of the summary. */
void run_probes_report(const struct run *run);
void run_probes_free(struct run *run);

#endif
