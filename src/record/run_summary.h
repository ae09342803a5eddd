/* Prints functrace's summary of a run: the content and paths of the traces, and calls and processes that were not
 * traced. */
#ifndef FT_RECORD_RUN_SUMMARY_H
#define FT_RECORD_RUN_SUMMARY_H

#include "record/trace.h"

struct buf;

/* Writes notes on the end of a trace, and on older live resources if the trace does not contain them. how: the reason
 * why the trace ends; NULL if there is no special reason. Does nothing if the trace has no file. */
void report_over(struct trace *trace, const char *how);
/* Does the same as report_over(), and closes the trace. has_other_tasks: tasks are still traced, and must not be kept
 * stopped for long. */
void report_end(struct trace *trace, const char *how, bool has_other_tasks);
/* Adds a trace that has ended, and that had a file, to the summary. hint: a sentence on why the trace is empty, or
 * NULL; reports_free() frees it. */
void report_trace(struct trace *trace, char *hint);
/* Prints the summary. */
void report_summary(const struct run *run);
/* Prints the part of the summary that has sums over all traces (run_summary_counts.c). */
void report_counts(const struct run *run);
/* Writes part / whole as a percentage to `text` and returns it: "12 %", "1.2 %" below 10 %, or "less than 0.1 %".
 * `whole` must not be 0. */
const char *report_share(uint64_t part, uint64_t whole, char text[32]);
void reports_free(struct run *run);

/* ---- For run_summary.c; defined in run_summary_live.c ---- */

/* Appends "1 block" or "1,234 blocks". */
void run_summary_add_number(struct buf *b, uint64_t number, const char *noun);
/* Appends the numbers of live resources, for each kind that has any. If no kind has any, appends "nothing is live"; but
 * if only one kind has resources that can be live, appends the number of that kind, as in "0 blocks". */
void run_summary_add_all_live(struct buf *b, const struct trace *trace);
/* Writes a note about the live resources that existed before this trace, or that a fork's child has inherited. Does
 * nothing if there are none, or if the trace contains them. */
void run_summary_note_older(struct trace *trace, uint32_t resource);

#endif
