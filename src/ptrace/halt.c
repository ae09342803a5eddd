/* Stops running tasks, and waits until they are stopped: see halt.h. */
#include "config.h"
#include "ptrace/halt.h"
#include "ptrace/pending_stops.h"
#include "ptrace/tasks.h"

#include <sched.h>
#include <sys/wait.h>
#include <time.h>

bool halt_nap(unsigned *naps, enum patience patience)
{
	if (*naps >= patience)
		return false;
	++*naps;
	nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
	return true;
}

pid_t halt_look(const struct task *task, int *status)
{
	return stops_wait(task->process->tracer, task->tid, WNOHANG, status);
}

void halt_keep(struct task *task, int status)
{
	const struct stop stop = stop_decode(task->tid, status, task->phase);

	stops_keep(task->process->tracer, task, &stop);
}

bool halt_task(struct task *task, enum patience patience, struct stop *stop)
{
	unsigned naps = 0;
	pid_t tid;
	int status;

	if (!task_interrupt(task))
		return false;
	task->interrupted = true;
	while (!(tid = halt_look(task, &status)) && halt_nap(&naps, patience))
		;
	if (tid != task->tid)
		return false;
	*stop = stop_decode(tid, status, task->phase);
	stops_mark(task, stop);
	return true;
}

/* Stops one task of the process. With `disturbs`, a task is stopped even if its system call then fails with EINTR. A
 * task under PTRACE_LISTEN is in a group-stop, but can be interrupted as a running task can. */
static pid_t halt_any(struct process *p, bool disturbs)
{
	struct stop stop;

	FOR_EACH_TASK(task, p) {
		if (!task_has_memory(task) || task->vforking || task->skip_halt ||
		    (task->stopped && !task->listening) || (!disturbs && task_would_see_eintr(task)) ||
		    !halt_task(task, PATIENCE_HALT, &stop))
			continue;
		stops_put_back(p->tracer, &stop);
		if (!task->has_left_mm)
			return task->tid;
	}
	return 0;
}

pid_t halt_one(struct process *p)
{
	const pid_t tid = halt_any(p, false);

	return tid || !p->arch->syscalls.eintr[0] ? tid : halt_any(p, true);
}

/* Collects the stops of the other tasks of the address space. Returns the number of tasks that have not stopped yet. */
static size_t take_others(const struct task *task)
{
	struct process *p = task->process;
	size_t running = 0;
	int status;

	FOR_EACH_TASK(other, p) {
		if (other == task || !task_can_be_stopped(other))
			continue;
		const pid_t tid = halt_look(other, &status);

		if (tid == other->tid)
			halt_keep(other, status);
		else
			running += tid == 0;
	}
	return running;
}

bool halt_others(struct task *task)
{
	struct process *p = task->process;
	unsigned naps = 0;
	int status;

	FOR_EACH_TASK(other, p)
		if (task_can_be_stopped(other)) {
			task_interrupt(other);
			other->interrupted = true;
		}
	while (take_others(task)) {
		if (halt_look(task, &status) == task->tid) {
			halt_keep(task, status);
			return false;
		}
		if (!halt_nap(&naps, PATIENCE_HALT))
			break;
	}
	return true;
}

#define YIELDS 1000 /* number of sched_yield() before naps: a step takes some microseconds */

bool halt_wait(struct task *task, enum patience patience, struct stop *stop)
{
	struct process *p = task->process;
	unsigned yields = 0, naps = 0;
	int status = 0, end;
	pid_t tid;

	while (!(tid = halt_look(task, &status))) {
		if (yields < YIELDS) {
			yields++;
			sched_yield();
		} else if (!halt_nap(&naps, patience)) {
			task->stopped = false;
			return false;
		}
		FOR_EACH_TASK(other, p)
			if (other != task && other->stopped && other->phase == PHASE_LIVE &&
			    halt_look(other, &end) == other->tid)
				halt_keep(other, end);
	}
	*stop = stop_decode(task->tid, tid == task->tid ? status : 0, task->phase);
	stops_mark(task, stop);
	return true;
}
