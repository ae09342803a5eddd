/* Handles the execution of another program: see execs.c. */
#ifndef FT_TRACER_EXECS_H
#define FT_TRACER_EXECS_H

#include "ptrace/stop.h"
#include "ptrace/tracee.h"

/* Acts on the stop of an exec: ends the old program's trace, and begins that of the new program or lets go of it. The
 * task with this id may be another struct than before. */
void act_exec(struct tracer *t, const struct stop *stop);
/* Returns true, and continues the task, if its stop signal is kept until its exec. A vfork child that stops would keep
 * its maker in an uninterruptible sleep, and the shell would never see Ctrl-Z take effect. Untraced, the child execs
 * almost at once. */
bool exec_awaits(struct task *task, int sig);

#endif
