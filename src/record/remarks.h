/* Writes into the trace remarks on calls that are not events. Each remark is one line of text. */
#ifndef FT_RECORD_REMARKS_H
#define FT_RECORD_REMARKS_H

#include "record/trace.h"

/* Writes that a call has failed, with its arguments, its result and the error if e->args contains them. Does nothing
 * for a fork's child before its first event. */
void remark_failed(struct trace *trace, const struct event *e);
/* Writes that a call has not returned, and why, with its arguments if e->args is not NULL. */
void remark_no_return(struct trace *trace, const struct event *e, const char *why);
/* Writes that `count` more calls of the thread have not returned. */
void remark_more(struct trace *trace, struct thread *thread, size_t count);

#endif
