/* Reports what has become of the processes that were traced when the engine was killed; runs in the guardian. */
#include "config.h"
#include "engine/rescue_tasks.h"
#include "base/msg.h"
#include "proc/proc.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#define ENDS_MS     100   /* most tasks that are about to end have ended after this time, in ms */
#define PATIENCE_MS 10000 /* ms for all tasks together: a busy machine may give them a CPU late */
/* If a task's CPU time has grown by RUN_NS, in at least RUN_TIMES steps, its pending signals have been delivered. */
#define RUN_NS    1000000
#define RUN_TIMES 3

enum fate {
	FATE_ENDED,
	FATE_LIVES,
	FATE_UNKNOWN, /* the time is up: a task has not run yet, or a task that a signal ends still exists */
};

static bool dumps_core(pid_t pid)
{
	char *status = proc_read(pid, "status", NULL);
	uint64_t dumps = 0;

	proc_status_number(status, "CoreDumping", 0, 10, &dumps);
	free(status);
	return dumps;
}

static bool rescue_report_has_ended(const struct rescued_process *process, int milliseconds)
{
	struct pollfd end = {.fd = process->handle, .events = POLLIN};

	if (process->handle < 0)
		return kill(process->pid, 0) < 0 && errno == ESRCH;
	return poll(&end, 1, milliseconds) > 0 || dumps_core(process->pid);
}

static int rescue_report_milliseconds_until(uint64_t deadline)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	return now < deadline ? (int)((deadline - now) / 1000000) : 0;
}

/* A task in state R: its CPU time at the first and at the latest check, in ns, and the number of times that this time
 * has grown. */
struct ready_task {
	pid_t tid;
	uint64_t ran_first, ran;
	unsigned times;
};

struct ready {
	struct ready_task *tasks;
	size_t count, capacity;
};

static bool is_ready(pid_t tid, uint64_t *ran)
{
	struct proc_stat stat;

	return proc_stat(tid, &stat) && stat.state == 'R' && proc_run_time(tid, ran);
}

static bool note_ready(void *context, pid_t tid)
{
	struct ready *const ready = context;
	uint64_t ran;

	if (!is_ready(tid, &ran))
		return true;
	ARRAY_GROW(ready->tasks, ready->capacity, ready->count);
	ready->tasks[ready->count++] = (struct ready_task){.tid = tid, .ran_first = ran, .ran = ran};
	return true;
}

static bool has_run_on(struct ready_task *task)
{
	uint64_t ran;

	if (!is_ready(task->tid, &ran))
		return true;
	task->times += ran != task->ran;
	task->ran = ran;
	return task->times >= RUN_TIMES && ran - task->ran_first >= RUN_NS;
}

static void forget_run(struct ready *ready)
{
	for (size_t i = 0; i < ready->count;)
		if (has_run_on(&ready->tasks[i]))
			ready->tasks[i] = ready->tasks[--ready->count];
		else
			i++;
}

/* Waits until each ready task has run.
 *
 * A task may have hit a breakpoint just before the breakpoint was removed. Until the kernel has queued the SIGTRAP, and
 * again after the kernel has dequeued it for delivery, the task looks like any running task. Each of these periods
 * takes a few microseconds on a CPU. But CPU time that has grown proves nothing by itself: the kernel also counts work
 * that has only begun, and other tasks may run first. So each ready task has to run for RUN_NS.
 *
 *	task: hits it | no CPU                     | on one | none again                     | its SIGTRAP
 *	G:            | text restored | CPU time 5 |        | CPU time 5.01: still no signal |
 *
 * Nor does one long run prove anything if a virtual machine's host takes the CPU away, because the kernel counts that
 * time too. So the tasks have to run RUN_TIMES times.
 *
 *	task: hits it | on a CPU that the host has taken | on it                             | its SIGTRAP
 *	G:            | text restored | CPU time 5       |       | CPU time 9: still no signal |
 *
 * Returns false if some task has run neither by the deadline nor before the end of the process. */
static bool runs_once_more(const struct rescued_process *process, uint64_t deadline)
{
	struct ready ready = {0};

	proc_each_thread(process->pid, note_ready, &ready);
	while (ready.count && !rescue_report_has_ended(process, 0) && rescue_report_milliseconds_until(deadline)) {
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		forget_run(&ready);
	}
	const bool has_run = !ready.count;

	free(ready.tasks);
	return has_run;
}

/* Sets *killed and ends the iteration at the first task that a signal is going to kill, because its process ends too.
 * The signal is a SIGKILL, or a SIGTRAP that is neither blocked nor handled nor ignored; no tracer can remove it any
 * more. The kernel removes a signal from the pending ones before it sets the task's flag PROC_KILLED, so the function
 * reads this flag last. */
static bool find_killed_task(void *context, pid_t tid)
{
	const uint64_t trap = 1ull << (SIGTRAP - 1), kill = 1ull << (SIGKILL - 1);
	bool *const killed = context;
	struct proc_stat stat;
	uint64_t pending = 0, blocked = 0;
	char *status = proc_read(tid, "status", NULL);

	proc_status_number(status, "SigPnd", 0, 16, &pending);
	proc_status_number(status, "SigBlk", 0, 16, &blocked);
	free(status);
	*killed = proc_stat(tid, &stat) &&
		  ((stat.flags & PROC_KILLED) || (pending & (kill | (trap & ~(blocked | stat.caught | stat.ignored)))));
	return !*killed;
}

static bool is_killed(const struct rescued_process *process)
{
	bool killed = false;

	proc_each_thread(process->pid, find_killed_task, &killed);
	return killed;
}

/* Waits until it is known what becomes of a process, or until PATIENCE_MS are over. Returns FATE_LIVES only after all
 * of its ready tasks have run, because its tasks may be about to end: with many tasks on few CPUs the last task may end
 * late, and once the first task has ended, there is a moment in which no file of /proc shows the SIGKILL of the others.
 * That a task has ended does not show that the process ends, either: if another task's exec has ended the task, the
 * process continues. */
static enum fate fate_of(const struct rescued_process *process, uint64_t start)
{
	const uint64_t deadline = start + PATIENCE_MS * 1000000ull;
	const uint64_t ends = process->is_doomed ? deadline : start + ENDS_MS * 1000000ull;

	/* A lost process has got SIGKILL from the guardian. The guardian does not wait for its end: the guardian may
	 * still trace one of the tasks, and then the process ends only when the guardian ends. */
	if (process->lost)
		return FATE_ENDED;
	if (rescue_report_has_ended(process, rescue_report_milliseconds_until(ends)))
		return FATE_ENDED;
	do {
		const bool has_run = runs_once_more(process, deadline), killed = is_killed(process);

		if (rescue_report_has_ended(process, killed ? ENDS_MS : 0))
			return FATE_ENDED;
		if (has_run && !killed)
			return FATE_LIVES;
	} while (rescue_report_milliseconds_until(deadline));
	return FATE_UNKNOWN;
}

static void report_one(const struct rescued_process *process, enum fate fate)
{
	if (process->lost)
		msg_error("process %d (%s) had to be killed: one of its threads was stopped at a breakpoint, and could "
			  "not be set back to the instruction under it",
			  process->pid, process->name);
	else if (fate == FATE_ENDED && process->is_doomed)
		msg_error("process %d (%s) was killed by SIGTRAP: one of its threads had just hit a breakpoint",
			  process->pid, process->name);
	else if (fate == FATE_ENDED)
		msg_error("process %d (%s) has ended", process->pid, process->name);
	else if (fate == FATE_LIVES)
		msg_error("process %d (%s) runs on, untraced", process->pid, process->name);
	else
		msg_error("process %d (%s) is untraced, and it is not known whether it lives: one of its threads may "
			  "have hit a breakpoint, and has not run since. Check later whether the process still exists",
			  process->pid, process->name);
}

#define NAMED_MAX 8

void rescue_report(struct rescue *r)
{
	const uint64_t start = clock_ns(CLOCK_MONOTONIC);
	size_t lives = 0, named = 0;

	for (size_t i = 0; i < r->process_count; i++) {
		const enum fate fate = fate_of(&r->processes[i], start);

		lives += fate == FATE_LIVES;
		if (named++ < NAMED_MAX)
			report_one(&r->processes[i], fate);
	}
	if (named > NAMED_MAX)
		msg_error("of %zu traced processes, %zu run on, untraced", r->process_count, lives);
	for (size_t i = 0; i < r->process_count; i++)
		if (r->processes[i].handle >= 0)
			close(r->processes[i].handle);
	free(r->processes);
	free(r->tasks);
	*r = (struct rescue){0};
}
