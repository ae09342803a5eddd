/* Prints functrace's summary of a run: what the traces contain, where they are, and what was not traced. */
#ifndef FT_RECORD_RUN_SUMMARY_H
#define FT_RECORD_RUN_SUMMARY_H

#include "record/trace.h"

/* Writes notes on how a trace has ended (`how`; NULL if there is nothing special) and on what it does not contain. Does
 * nothing if it has no file. */
void report_over(struct trace *trace, const char *how);
/* Does the same and closes the trace. has_other_tasks: tasks are still traced, and must not wait long for this. */
void report_end(struct trace *trace, const char *how, bool has_other_tasks);
/* Adds a trace that is over, and that had a file, to the summary. `hint`: why the trace is empty, or NULL;
 * reports_free() frees it. */
void report_trace(struct trace *trace, char *hint);
/* Prints the summary. */
void report_summary(const struct run *run);
/* Prints the part of the summary that was counted over all traces (run_summary_counts.c). */
void report_counts(const struct run *run);
/* Returns "12 %", with one more digit below 10, in `text`. `whole` must not be 0. */
const char *report_share(uint64_t part, uint64_t whole, char text[32]);
void reports_free(struct run *run);

#endif
