/* Calls that were in flight when breakpoints were inserted on attaching: their entries were not seen. */
#ifndef FT_CALLS_UNSEEN_ENTRIES_H
#define FT_CALLS_UNSEEN_ENTRIES_H

#include "calls/calls.h"

/* Notes that each task of the process may be inside a traced function. Called before breakpoints are inserted. */
void unseen_begin(struct process *p);
/* Returns whether an allocation by the probe's function may be a part of such a call. The event has its stack. */
bool unseen_may_contain(struct task *task, const struct probe *probe, const struct event *e);

#endif
