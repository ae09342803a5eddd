/* Creates and frees traces. */
#ifndef FT_RECORD_TRACE_LIFE_H
#define FT_RECORD_TRACE_LIFE_H

#include "record/run.h"

/* Adds a new trace, without a file, to the run's list, and returns it. trace_free() frees it. */
struct trace *trace_new(struct run *run, pid_t pid, const struct arch *arch);
/* Removes a trace from the run's list and frees it. The trace's file must already be closed. */
void trace_free(struct trace *trace);
/* Copies the contexts of a forking process to its child's trace. */
void trace_copy_contexts(const struct trace *from, struct trace *to);

#endif
