/* Calls in flight when the functions of an attached process are planted: their entries were not seen. */
#ifndef FT_CALLS_UNSEEN_ENTRIES_H
#define FT_CALLS_UNSEEN_ENTRIES_H

#include "calls/calls.h"

/* The functions of the process are about to be planted: each of its tasks may be inside one of them. */
void unseen_begin(struct process *p);
/* Whether an allocation by the probe's function may be a part of such a call. The event has its stack. */
bool unseen_may_contain(struct task *task, const struct probe *probe, const struct event *e);

#endif
