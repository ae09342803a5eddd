/* Calls that were in flight when functrace attached and inserted breakpoints: their entries were not seen. */
#ifndef FT_CALLS_UNSEEN_ENTRIES_H
#define FT_CALLS_UNSEEN_ENTRIES_H

#include "calls/calls.h"

/* Notes that each task of the process may be inside a traced function. Called before breakpoints are inserted. */
void unseen_begin(struct process *p);
/* Returns true if an allocation by the probe's function may be a part of a call whose entry was not seen. `e` contains
 * the stack. */
bool unseen_may_contain(struct task *task, const struct probe *probe, const struct event *e);

#endif
