/* Stops running tasks, and waits until they are stopped. In the tracer, only these functions wait for the stop of one
 * particular task; collect() waits for a stop of any task. A scan of an untraced process waits in freeze_untraced.c.
 *
 * A task deep in the kernel (a parent in vfork, a core dump) stops only on its way back to the program, and the end of
 * a killed task may be reported only after the ends of other tasks have been collected. So each wait has a limit. Stops
 * that other tasks report meanwhile are kept for collect(). */
#ifndef FT_PTRACE_HALT_H
#define FT_PTRACE_HALT_H

#include "ptrace/tracee.h"

#include <limits.h>

/* How long to wait for a task: the number of naps, of 50 us or more each. */
enum patience {
	PATIENCE_SOON = 400,   /* the task runs the program, or other tasks can be stopped instead */
	PATIENCE_HALT = 4000,  /* the task may be in a long system call */
	PATIENCE_EXEC = 20000, /* the task is in an exec, and has no memory meanwhile */
	PATIENCE_BIRTH =
		/* a new task: no breakpoint can be inserted before it has stopped, and it may wait long for a CPU */
	100000,
	/* The task makes a non-blocking system call for the tracer, with registers that the tracer has set. The task
	 * cannot be left in that state, even if its cgroup is frozen. */
	PATIENCE_OWN = INT_MAX,
};

/* Sleeps for one nap, and counts it in *naps, which starts at 0. When the limit is reached, returns false without
 * sleeping. */
bool halt_nap(unsigned *naps, enum patience patience);
/* Asks once for a running task's next wait status, without waiting. Returns its tid and *status; 0 if there is none
 * yet; -1 if the task is no tracee any more. */
pid_t halt_look(const struct task *task, int *status);
/* Stops one task of the process. Chooses a task whose system call would fail with EINTR only if there is no other task.
 * Returns its tid, or 0 if none stopped. */
pid_t halt_one(struct process *p);
/* Interrupts a running task, waits for its stop, sets *stop to that stop, and marks the task with it (stops_mark()).
 * The caller passes *stop to stops_put_back(). Returns false if the task has not stopped in time (a parent in vfork
 * stops later), or if it had ended before it could be interrupted. */
bool halt_task(struct task *task, enum patience patience, struct stop *stop);
/* Stops all other tasks that share the task's memory, except tasks that do not stop within PATIENCE_HALT. Returns false
 * if `task` itself has died. */
bool halt_others(struct task *task);
/* Waits for the next stop, or the end, of a task that was just resumed for a step or to a system call. Marks the task
 * with the stop; the caller passes the stop to stops_put_back(). Meanwhile collects the stops of other threads, because
 * the kernel reports a killed leader's end only after the ends of all its threads have been collected. Returns false if
 * the task has not stopped in time, because it is blocked in the kernel. */
bool halt_wait(struct task *task, enum patience patience, struct stop *stop);
/* Does stops_keep() for a wait status that came while the tracer waited for another task. The task must be in the
 * table. */
void halt_keep(struct task *task, int status);

#endif
