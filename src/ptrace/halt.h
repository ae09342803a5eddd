/* Stopping tasks that run, and waiting for one: all waits but collect()'s. None is without an end: a task deep in the
 * kernel (a parent in vfork, a core dump) stops only on its way back to the program, and one that is killed may wait for
 * the ends of others to be taken. What tasks report meanwhile is kept for collect(). */
#ifndef FT_PTRACE_HALT_H
#define FT_PTRACE_HALT_H

#include "ptrace/tracee.h"

/* Stops one task of the process. Its id, or 0 if none would stop. */
pid_t halt_one(struct process *p);
/* Interrupts a running task and waits for what it reports, but not longer than `patience` naps of 50 us: *stop, which is
 * the caller's to keep. False: it has not stopped (a parent in vfork will later), or has gone. */
bool halt_task(struct task *task, unsigned patience, struct stop *stop);
/* Stops every other task that shares the memory. False if the task itself has died. */
bool halt_others(struct task *task);
/* A resumed task's next stop or its end, which is noted in the task, and the caller's to keep. Of a killed leader that is
 * reported only when the ends of all its threads have been taken. */
struct stop halt_wait(struct task *task);
/* Keeps what a task of a known process reported at a bad time. */
void halt_keep(struct task *task, int status);

#endif
