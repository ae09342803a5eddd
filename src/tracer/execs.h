/* Handles execve: see execs.c. */
#ifndef FT_TRACER_EXECS_H
#define FT_TRACER_EXECS_H

#include "ptrace/stop.h"
#include "ptrace/tracee.h"

/* Acts on the stop of an exec: ends the old program's trace, and begins that of the new program or detaches from it.
 * Afterwards the task of this tid may be another struct. */
void act_exec(struct tracer *t, const struct stop *stop);
/* Returns true, and continues the task, if its stop signal is kept until its exec. If a vfork child stopped, its parent
 * would stay in uninterruptible sleep, and the shell would not notice that Ctrl-Z has stopped the job. Untraced, the
 * child execs almost at once. */
bool exec_awaits(struct task *task, int sig);

#endif
