/* What functrace says at its end: what the traces hold, where they are, and what was not traced. */
#ifndef FT_RECORD_RUN_SUMMARY_H
#define FT_RECORD_RUN_SUMMARY_H

#include "record/trace.h"

/* Writes how a trace has ended (NULL: nothing) and what it does not hold. Nothing if it has no file. */
void report_over(struct trace *trace, const char *how);
/* The same, and closes it. is_attached: something is that should not wait for long. */
void report_end(struct trace *trace, const char *how, bool is_attached);
/* One trace is over, and goes into the summary. `hint`: why there is nothing in it; NULL none; report_trace() frees
 * it. Only for a trace that had a file. */
void report_trace(struct trace *trace, char *hint);
/* Prints the summary. */
void report_summary(const struct run *run);
/* Reports the part of this that was counted over all traces: run_summary_counts.c. */
void report_counts(const struct run *run);
/* "12 %", with a digit more below 10. */
const char *report_share(uint64_t part, uint64_t whole, char text[32]);
void reports_free(struct run *run);

#endif
