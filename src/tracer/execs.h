/* Handles execve: see execs.c. */
#ifndef FT_TRACER_EXECS_H
#define FT_TRACER_EXECS_H

#include "ptrace/wait_status.h"
#include "ptrace/tracee.h"

/* Acts on the stop of an exec: ends the old program's trace, and begins that of the new program or detaches from it.
 * Afterwards another struct task may have this tid. */
void act_exec(struct tracer *t, const struct stop *stop);
/* If the signal would stop a vfork child, keeps the signal until the child's exec, continues the child, and returns
 * true. If the child stopped, its parent would stay in uninterruptible sleep, and the shell would not notice that
 * Ctrl-Z has stopped the job. Without functrace, the child execs almost at once. */
bool exec_awaits(struct task *task, int sig);

#endif
