/* Tasks that end, or are let go of. */
#ifndef FT_TRACER_ENDS_H
#define FT_TRACER_ENDS_H

#include "ptrace/stop.h"
#include "ptrace/tracee.h"

/* Frees a task; a process of which it was the last has ended as `how` says (NULL: nothing). */
void task_forget(struct tracer *t, struct task *task, const char *how);
/* Forgets every task of the group except `keep`: the kernel reports nothing more about them. */
void task_forget_group(struct tracer *t, pid_t tgid, const struct task *keep);
/* Lets go of one stopped task for good, its text being clean. */
void task_release(struct tracer *t, struct task *task, int sig);

#endif
