/* Waits for the tasks that were being created while functrace attached to a process: see wait_for_births.c. */
#ifndef FT_TRACER_WAIT_FOR_BIRTHS_H
#define FT_TRACER_WAIT_FOR_BIRTHS_H

#include "ptrace/tracee.h"

/* Waits until no task of the process can be in a fork or clone that began before the task was seized, but no longer
 * than PATIENCE_BIRTH allows. has_sharers: other processes share the memory, so a task may be a parent that waits in
 * vfork for one of them. */
void births_wait(const struct process *p, bool has_sharers);
/* Notes that the task has called execve. births_wait() then waits for the task again, because it may fork in the new
 * program. */
void birth_unsettle(struct task *task);
/* Makes births_wait() check again the tasks that have not stopped, and were not recognised as parents in vfork. A child
 * of such a task may have been found meanwhile. */
void births_unsettle(const struct process *p);

#endif
