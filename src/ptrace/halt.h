/* Stopping tasks that run, and waiting for them: all waits for stops but collect()'s. A task deep in the kernel (a
 * parent in vfork, a core dump) stops only on its way back to the program, and one that is killed may wait for the ends
 * of others to be taken; so each wait has a patience. What tasks report meanwhile is kept for collect(). */
#ifndef FT_PTRACE_HALT_H
#define FT_PTRACE_HALT_H

#include "ptrace/tracee.h"

#include <limits.h>

/* For how long a task is waited for, in naps of 50 us and more. */
enum patience {
	PATIENCE_SOON = 400,   /* it runs the program, or other tasks can be asked as well */
	PATIENCE_HALT = 4000,  /* it may be in a system call that takes long */
	PATIENCE_EXEC = 20000, /* it executes another program, and has no memory meanwhile */
	PATIENCE_BIRTH =
		100000, /* nothing can be planted before it has stopped, and a processor may be long in coming */
	PATIENCE_OWN = INT_MAX, /* it makes a call of the tracer's that does not block, with registers of the tracer's:
				   it cannot be left like that, though it be frozen (cgroups) */
};

/* Naps once, and counts that in *naps, which begins as 0. False, without a nap: the patience is at its end. */
bool halt_nap(unsigned *naps, enum patience patience);
/* Asks once for what a running task has to report, without waiting: its tid and *status, 0: nothing yet, -1: it is no
 * tracee any more. */
pid_t halt_look(const struct task *task, int *status);
/* Stops one task of the process; one whose call would end with EINTR only if there is no other. Its id, or 0 if none
 * would stop. */
pid_t halt_one(struct process *p);
/* Interrupts a running task and waits for what it reports: *stop, which is marked in the task, and the caller's to give
 * to stops_put_back(). False: it has not stopped (a parent in vfork will later), or has gone. */
bool halt_task(struct task *task, enum patience patience, struct stop *stop);
/* Stops every other task that shares the memory. False if the task itself has died. */
bool halt_others(struct task *task);
/* The next stop or the end of a task that was just resumed for a step or to a system call: marked in the task, and the
 * caller's to give to stops_put_back(). A killed leader's end is reported only when the ends of all its threads have
 * been taken: those that stand still are looked at meanwhile. False: it has not stopped, for the kernel holds it up. */
bool halt_wait(struct task *task, enum patience patience, struct stop *stop);
/* stops_keep() of a status: what a task of a known process has reported at a bad time. */
void halt_keep(struct task *task, int status);

#endif
