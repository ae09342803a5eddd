/* Stops running tasks, and waits for them: all waits for stops except collect()'s.
 *
 * A task deep in the kernel (a parent in vfork, a core dump) stops only on its way back to the program, and a killed
 * task may end only after the ends of other tasks have been collected. So each wait has a limited patience. Stops
 * that other tasks report meanwhile are kept for collect(). */
#ifndef FT_PTRACE_HALT_H
#define FT_PTRACE_HALT_H

#include "ptrace/tracee.h"

#include <limits.h>

/* How long to wait for a task, in naps of 50 us or more. */
enum patience {
	PATIENCE_SOON = 400,   /* it runs the program, or other tasks can be asked instead */
	PATIENCE_HALT = 4000,  /* it may be in a long system call */
	PATIENCE_EXEC = 20000, /* it is in an exec, and has no memory meanwhile */
	PATIENCE_BIRTH =
		100000, /* nothing can be planted before it has stopped, and it may wait long for a processor */
	/* it makes a system call for the tracer, which does not block, with the tracer's registers: it cannot be left
	 * in that state, even if it is frozen (cgroups) */
	PATIENCE_OWN = INT_MAX,
};

/* Naps once, and counts the nap in *naps, which starts at 0. Returns false, without a nap, when the patience is
 * over. */
bool halt_nap(unsigned *naps, enum patience patience);
/* Asks once for a running task's next report, without waiting. Returns its tid and *status; 0: no report yet; -1: it
 * is no tracee any more. */
pid_t halt_look(const struct task *task, int *status);
/* Stops one task of the process. Chooses a task whose system call would fail with EINTR only if there is no other.
 * Returns its tid, or 0 if none stopped. */
pid_t halt_one(struct process *p);
/* Interrupts a running task and waits for its report, *stop. The stop is marked in the task; the caller passes it to
 * stops_put_back(). Returns false if the task has not stopped (a parent in vfork will later), or has ended. */
bool halt_task(struct task *task, enum patience patience, struct stop *stop);
/* Stops every other task that shares the memory. Returns false if the task itself has died. */
bool halt_others(struct task *task);
/* Waits for the next stop, or the end, of a task that was just resumed for a step or to a system call. The stop is
 * marked in the task; the caller passes it to stops_put_back(). Meanwhile it takes the reports of stopped threads,
 * because the kernel reports a killed leader's end only after the ends of all its threads have been collected.
 * Returns false if the task has not stopped, because the kernel holds it up. */
bool halt_wait(struct task *task, enum patience patience, struct stop *stop);
/* Does stops_keep() for a status that a task of a known process has reported while the tracer waited for another. */
void halt_keep(struct task *task, int status);

#endif
