/* Waits for the tasks that were being born while a process was attached to: see wait_for_births.c. */
#ifndef FT_TRACER_WAIT_FOR_BIRTHS_H
#define FT_TRACER_WAIT_FOR_BIRTHS_H

#include "ptrace/tracee.h"

/* Waits until no task of the process can be in a fork or clone that began before it was seized. has_sharers: a maker in
 * vfork may wait for a child that is known. */
void births_wait(const struct process *p, bool has_sharers);
/* Notes that the task runs another program: it may be in a fork or clone again. */
void birth_unsettle(struct task *task);
/* Makes births_wait() look again at makers that were not known to be in vfork, because a child of theirs may have been
 * found. */
void births_unsettle(const struct process *p);

#endif
