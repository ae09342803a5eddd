/* A process executes another program: see execs.c. */
#ifndef FT_TRACER_EXECS_H
#define FT_TRACER_EXECS_H

#include "ptrace/stop.h"
#include "ptrace/tracee.h"

/* The stop of an exec: ends the old program's trace, and begins one of the new program or lets go of it. The task of
 * that id may be another struct than before. */
void act_exec(struct tracer *t, const struct stop *stop);
/* A vfork child that stops keeps its parent in an uninterruptible sleep: the shell would never see Ctrl-Z take effect.
 * Untraced the child execs almost at once; traced, its stop signal is kept until it does: true, and it goes on. */
bool exec_awaits(struct task *task, int sig);

#endif
