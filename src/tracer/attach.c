#include "config.h"
#include "tracer/attach.h"
#include "tracer/begin_tracing.h"
#include "tracer/task_life.h"
#include "tracer/process.h"
#include "tracer/seize.h"
#include "tracer/seize_stops.h"
#include "tracer/stop_pump.h"
#include "calls/probes/probes.h"
#include "record/progress.h"
#include "record/run.h"
#include "ptrace/halt.h"
#include "proc/proc.h"
#include "proc/refusal.h"
#include "proc/process_search.h"
#include "base/buf.h"
#include "base/msg.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Attaching ---- */

/* Makes the struct of the process. Tries again for a while, because a process in an execve may have no memory that can
 * be opened. */
static struct process *new_process(struct tracer *t, pid_t pid)
{
	for (unsigned naps = 0;;) {
		const pid_t tid = proc_live_thread(pid);
		struct process *p = process_new(t, tid ? tid : pid, pid);
		const int error = p ? 0 : errno;

		if ((error != ESRCH && error != ENOENT) || !tid || !halt_nap(&naps, PATIENCE_EXEC)) {
			errno = error;
			return p;
		}
		seize_take_stops(t);
	}
}

static int attach_sharers(struct tracer *t, pid_t pid, bool is_named, struct sharers *s)
{
	int error = 0;

	seize_tasks(t, pid, &error);
	if (error)
		return refusal_of_attach(pid, error);
	/* Seize the processes that share the memory before the memory is opened. If a process calls execve afterwards,
	 * the tasks that were seized here are replaced, and seize_drop_replaced() notices it. */
	const pid_t one = proc_live_thread(pid);

	seize_sharers(t, s, one ? one : pid);
	struct process *p = new_process(t, pid);

	if (!p)
		return refusal_of_attach(pid, errno);
	p->trace->origin.attached = true;
	p->trace->origin.attached_to = is_named;
	seize_rest(t, p, s);
	if (s->refused) {
		/* No breakpoint is inserted, because a task of the refused process would die of it. */
		p->trace->broken = t->run->has_broken = true;
		if (s->refused != pid)
			msg_error("process %d shares the memory of process %d: functrace must attach to both, or none.",
				  s->refused, pid);
		return refusal_of_attach(s->refused, s->error);
	}
	return 0;
}

static int attach_once(struct tracer *t, pid_t pid, bool is_named)
{
	struct sharers s = {.pids = xcalloc(1, sizeof(pid)), .count = 1, .capacity = 1};

	s.pids[0] = pid;
	const int result = attach_sharers(t, pid, is_named, &s);

	free(s.pids);
	return result;
}

#define EXECS_MAX 1000

/* Attaches to the process of the task `which`, unless functrace is attached to it already. is_named: the user has named
 * the process; else it is a descendant of a process that the user has named. Returns 0, or functrace's exit status
 * after a message. */
static int attach_one(struct tracer *t, pid_t which, bool is_named)
{
	const pid_t leader = proc_tgid(which), pid = leader ? leader : which; /* `which` may be a thread's id */
	struct task *known = task_of_group(t, pid);

	/* If a task of the process is known, functrace is already attached to the process. The user has named it twice
	 * (by its id and by a thread's), or it shares the memory of a process to which functrace is attached, or such a
	 * process has forked it. */
	if (known && !seize_drop_replaced(t, pid) && (known->process || known->phase != PHASE_LIVE)) {
		known->life->release_at_exec = false;
		return 0;
	}
	if (refusal_before_attach(pid))
		return 1;
	for (unsigned execs = 0; execs < EXECS_MAX; execs++) {
		const int error = attach_once(t, pid, is_named);

		if (error || !seize_drop_replaced(t, pid))
			return error;
	}
	msg_error("cannot attach to process %d: it calls execve again and again. Try again later.", pid);
	return 1;
}

/* Returns true if the process is not traced, and is a child of a traced process. A child that was forked after the
 * attach is already traced. */
static bool attach_is_new_child(struct tracer *t, pid_t pid)
{
	const pid_t parent = task_of_group(t, pid) ? 0 : proc_parent(pid);

	return parent && task_of_group(t, parent) && proc_is_alive(pid) && !proc_is_own_tracee(pid);
}

/* --children: attaches to children until there are no more. If a child cannot be attached to, prints a message and
 * leaves it untraced. */
static void attach_children(struct tracer *t)
{
	struct hash failed = {0};
	bool more = true;

	while (more) {
		size_t count;
		pid_t *const pids = processes_all(&count);

		more = false;
		for (size_t i = 0; i < count; i++) {
			if (!attach_is_new_child(t, pids[i]) || hash_get(&failed, (uint64_t)pids[i]))
				continue;
			more = true;
			if (!attach_one(t, pids[i], false))
				continue;
			hash_set(&failed, (uint64_t)pids[i], 1);
			t->run->sums.lost_attach++;
		}
		free(pids);
	}
	hash_free(&failed);
}

/* Prints which processes are traced, and how to end the tracing. */
static void tell_attached(const struct tracer *t)
{
	size_t named = 0, others = 0, listed = 0;
	struct buf b = {0};

	/* A process whose trace could not be begun is already detached. */
	for (const struct process *p = t->processes; p; p = p->next) {
		named += p->trace->origin.attached_to && !p->trace->broken;
		others += !p->trace->origin.attached_to && !p->trace->broken;
	}
	for (const struct process *p = t->processes; p; p = p->next) {
		if (!p->trace->origin.attached_to || p->trace->broken)
			continue;
		buf_printf(&b, "attached to %s (%d), %zu thread%s, ", p->trace->origin.name, p->pid, p->task_count,
			   p->task_count == 1 ? "" : "s");
		if (t->run->paused)
			buf_printf(&b, t->set->watch.is_wanted ? "watched" : "paused");
		else
			buf_printf(&b, "%zu function%s", probes_count(p), probes_count(p) == 1 ? "" : "s");
		if (++listed == named && others)
			buf_printf(&b, ", and to %zu descendant%s", others, others == 1 ? "" : "s");
		msg_info("%s%s", buf_str(&b), listed == named ? "; Ctrl-C detaches functrace" : "");
		b.size = 0;
	}
	buf_free(&b);
}

int attach_all(struct tracer *t)
{
	pid_t failed = 0;
	struct begun *begun = NULL;
	int error = 0;

	seize_begin();
	for (size_t i = 0; i < t->set->target.pid_count && !error; i++)
		error = attach_one(t, t->set->target.pids[i], true);
	if (!error && t->set->target.children)
		attach_children(t);
	seize_end();
	if (error)
		return 1;
	if (!t->run->paused)
		error = begin_all(t, &failed, &begun);
	for (struct process *p = t->processes; p; p = p->next)
		p->anchor = 0;
	if (error < 0) {
		begun_free(begun);
		return error == -ESRCH ? refusal_of_attach(failed, ESRCH) : 1;
	}
	t->run->has_begun = true;
	engine_started(t->engine);
	tell_attached(t);
	if (begun) {
		begun_say(begun);
		begun_free(begun);
	}
	progress_begin(t->run);
	return 0;
}

/* ---- Launching ---- */

/* Prints a message for a program that was not started. Returns functrace's exit status. */
static int why_not_started(struct tracer *t, const struct stop *stop)
{
	const int failure = launch_failure(t->launch, t->set->target.argv[0]);

	if (failure)
		return failure;
	if (stop->kind == STOP_GONE && WIFSIGNALED(stop->status))
		return 128 + WTERMSIG(stop->status);
	msg_error("%s could not be started.", t->set->target.argv[0]);
	return 1;
}

/* Filters stops until the launched program has called execve. If the stop is the program's end, sets *context (an int)
 * to functrace's exit status. If the program was not killed by a signal, also returns true, so that its end is not
 * dispatched like that of a target. Otherwise returns false. */
static bool filter_not_started(struct tracer *t, const struct stop *stop, void *context)
{
	int *const status = context;

	if (stop->kind != STOP_GONE)
		return false;
	*status = why_not_started(t, stop);
	return *status < 128;
}

/* Dispatches stops until the launched program has called execve, or has ended. Returns 0, or functrace's exit status if
 * the program was not started or its trace could not be begun. */
static int wait_for_exec(struct tracer *t)
{
	int status = 0;
	const struct stop_pump pump = {pump_waits.take, filter_not_started, &status};

	for (;;) {
		const struct stop stop = pump_once(t, &pump);

		if (stop.kind == STOP_EXEC)
			return t->run->exit_status;
		if (stop.kind == STOP_NONE)
			return why_not_started(t, &stop);
		if (status)
			return status;
	}
}

/* Returns true if the process is a zombie, which the kernel does not let a tracer seize. */
static bool has_died(pid_t pid)
{
	struct proc_stat stat;

	return proc_stat(pid, &stat) && (stat.state == 'Z' || stat.state == 'X');
}

int launch_begin(struct tracer *t)
{
	const pid_t pid = t->launch->pid;

	const int error = -task_seize(pid);

	if (error && !has_died(pid)) {
		refusal_of_launch(pid, t->set->target.argv[0], error);
		kill(pid, SIGKILL);
		return 1;
	}
	task_begin(t, pid, pid, NULL, PHASE_LIVE);
	launch_open_gate(t->launch); /* if the program was killed meanwhile, its exit is reported */
	return wait_for_exec(t);
}
