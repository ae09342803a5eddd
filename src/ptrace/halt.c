#include "config.h"
#include "ptrace/halt.h"
#include "ptrace/stops.h"
#include "ptrace/tasks.h"

#include <sched.h>
#include <sys/wait.h>
#include <time.h>

#define PATIENCE 4000 /* naps of 50 us and more */

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

void halt_keep(struct task *task, int status)
{
	const struct stop stop = stop_decode(task->tid, status, task->phase);

	stops_keep(task->process->tracer, task, &stop);
}

bool halt_task(struct task *task, unsigned patience, struct stop *stop)
{
	struct tracer *t = task->process->tracer;
	int status;

	if (!task_interrupt(task))
		return false;
	task->interrupted = true;
	for (unsigned n = 0; n < patience; n++) {
		const pid_t tid = stops_wait(t, task->tid, WNOHANG, &status);

		if (tid == task->tid) {
			*stop = stop_decode(tid, status, task->phase);
			stops_mark(task, stop);
			return true;
		}
		if (tid)
			return false;
		nap();
	}
	return false;
}

/* A task that listens stands in a group-stop, and is interrupted like one that runs. */
pid_t halt_one(struct process *p)
{
	struct stop stop;

	FOR_EACH_TASK(task, p) {
		if (!task_has_memory(task) || task->vforking || (task->stopped && !task->listening) ||
		    !halt_task(task, PATIENCE, &stop))
			continue;
		stops_put_back(p->tracer, &stop);
		if (!task->elsewhere)
			return task->tid;
	}
	return 0;
}

/* Takes what the other tasks of the address space report. How many have still to stop. */
static size_t take_others(const struct task *task)
{
	struct process *p = task->process;
	size_t running = 0;
	int status;

	FOR_EACH_TASK(other, p) {
		if (other == task || !task_can_be_stopped(other))
			continue;
		const pid_t tid = stops_wait(p->tracer, other->tid, WNOHANG, &status);

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
	int status;

	FOR_EACH_TASK(other, p)
		if (task_can_be_stopped(other)) {
			task_interrupt(other);
			other->interrupted = true;
		}
	for (unsigned n = 0; n < PATIENCE && take_others(task); n++) {
		if (stops_wait(p->tracer, task->tid, WNOHANG, &status) == task->tid) {
			halt_keep(task, status);
			return false;
		}
		nap();
	}
	return true;
}

struct stop halt_wait(struct task *task)
{
	struct process *p = task->process;
	int status = 0, end;
	pid_t tid;

	while (!(tid = stops_wait(p->tracer, task->tid, WNOHANG, &status))) {
		sched_yield();
		FOR_EACH_TASK(other, p)
			if (other != task && other->stopped && other->phase == PHASE_LIVE &&
			    stops_wait(p->tracer, other->tid, WNOHANG, &end) == other->tid)
				halt_keep(other, end);
	}
	const struct stop stop = stop_decode(task->tid, tid == task->tid ? status : 0, task->phase);

	stops_mark(task, &stop);
	return stop;
}
