/* Calls that are no events, but are written in the trace as remarks: one line of text each. */
#ifndef FT_RECORD_REMARKS_H
#define FT_RECORD_REMARKS_H

#include "record/trace.h"

/* Writes that a call has failed: its arguments, its result and the error, as far as e->args has them. A fork's child
 * has no such remarks before its first event. */
void remark_failed(struct trace *trace, const struct event *e);
/* Writes that a call has not returned, with its arguments, if e->args has them, and why. */
void remark_no_return(struct trace *trace, const struct event *e, const char *why);
/* The thread has so many more calls that have not returned. */
void remark_more(struct trace *trace, struct thread *thread, size_t count);

#endif
