/* The beginning and the end of a trace. */
#ifndef FT_RECORD_TRACE_LIFE_H
#define FT_RECORD_TRACE_LIFE_H

#include "record/run.h"

/* A new trace of the run, without a name. */
struct trace *trace_new(struct run *run, pid_t pid, const struct arch *arch);
/* It has ended already: its file is closed. */
void trace_free(struct trace *trace);
/* A fork's child begins with its parent's contexts. */
void trace_copy_contexts(const struct trace *from, struct trace *to);

#endif
