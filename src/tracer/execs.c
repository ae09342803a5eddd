#include "config.h"
#include "tracer/execs.h"
#include "record/run.h"
#include "tracer/births.h"
#include "tracer/task_life.h"
#include "tracer/leak_check.h"
#include "tracer/process.h"
#include "tracer/process_start.h"
#include "calls/affinity/pin.h"
#include "calls/probes/kernel_probes.h"
#include "calls/sigtrap.h"
#include "breakpoints/out_of_line_slots.h"
#include "ptrace/target_memory.h"
#include "ptrace/pending_stops.h"
#include "proc/proc.h"
#include "proc/refusal.h"
#include "base/msg.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

/* Handles execve: discards all data of the old program, and begins a trace of the new one. */

/* Returns the task that has called execve. The kernel reports the exec under the leader's tid, even if another thread
 * has called execve. All other threads have ended without a report. */
static struct task *exec_task(struct tracer *t, const struct stop *stop)
{
	const struct task *leader = task_find(t, stop->tid);
	const pid_t former = task_event_message(stop->tid);
	struct task *task;

	pin_exec(t, former, stop->tid);
	task = task_find(t, former);
	if (!task)
		task = task_find(t, stop->tid);
	if (!task)
		task = task_begin(t, stop->tid, stop->tid, NULL, PHASE_LIVE);
	task->phase = PHASE_LIVE;
	task->life->release_at_exec = leader ? leader->life->release_at_exec : task->life->release_at_exec;
	task_forget_group(t, stop->tid, task);
	if (task->tid != stop->tid)
		task_rename(t, task, stop->tid);
	task->tgid = stop->tid;
	stops_mark(task, stop);
	task->has_left_mm = false; /* the task has left the old memory, and uses the new one */
	return task;
}

static void leave_old_process(struct task *task)
{
	char how[64];

	hits_free(task);
	task_calls_free(task, true);
	struct process *old = task_part(task);

	if (!old)
		return;
	kernel_probes_leave(old, task->tgid);
	snprintf(how, sizeof(how), "process %d executes another program", task->tid);
	if (!old->tasks) /* otherwise other tasks still use the memory, such as a vfork child's parent */
		leak_check_at_exec(old);
	process_unref(old, how);
}

/* Removes breakpoints from the new program. If functrace attached just before the exec, it may have opened the memory
 * only after the exec. Then the old process's descriptor leads to the new memory, into which breakpoints were
 * written. */
static void clean_new_image(struct process *old)
{
	const struct hash_entry *entry;
	unsigned char byte;
	size_t i = 0;

	if (!old || old->task_count != 1 || !(entry = hash_next(&old->text->breakpoints, &i)) ||
	    memory_read(old, entry->key, &byte, 1) < 0)
		return;
	process_pause(old, "executes another program");
	slots_restore(old);
}

bool exec_awaits(struct task *task, int sig)
{
	if (!task->life->vfork.is_child || !stops_or_continues(sig))
		return false;
	task->life->vfork.signal = sig == SIGCONT ? 0 : sig;
	if (sig == SIGCONT)
		return false;
	task_resume(task, 0);
	return true;
}

static void deliver_awaiting(struct task *task)
{
	const int signal = task->life->vfork.signal;

	task->life->vfork.is_child = false;
	task->life->vfork.signal = 0;
	if (signal)
		kill(task->tid, signal);
}

static void launch_failed(struct tracer *t, struct task *task)
{
	/* The trace's file cannot be written. The program has not run yet, and must not run untraced. */
	t->run->exit_status = 1;
	kill(task->tid, SIGKILL);
	task_release(t, task, SIGKILL);
	t->finished = true;
}

static void note_run_has_begun(struct tracer *t)
{
	t->run->has_begun = true;
	engine_started(t->engine);
}

static void warn_not_traced(pid_t pid, int error)
{
	const bool was_read = error == ENOEXEC || error == ETIMEDOUT;

	msg_warn("process %d is not traced: %s%s", pid,
		 was_read ? "" : "its memory or its program's file cannot be read: ", refusal_reason(error));
}

void act_exec(struct tracer *t, const struct stop *stop)
{
	struct task *task = exec_task(t, stop);
	const bool launched = t->launch->pid == task->tid;
	const bool first = launched && !t->launch_execed;

	const bool leaving = process_is_leaving(t, task->process);
	const struct process *const old = task->process;
	/* A vfork's child is in its parent's process. */
	const bool is_child = old && (old->trace->origin.is_child || old->pid != task->tgid);

	/* The exec has killed any thread that was in a fork, so that thread's event will never come. */
	births_adopt_orphans(t, task->process, task->tgid, task);
	clean_new_image(task->process);
	leave_old_process(task);
	deliver_awaiting(task);
	if (launched)
		t->launch_execed = true;
	if (task->life->release_at_exec || leaving) {
		t->run->sums.untraced_children++;
		task_release(t, task, 0);
		return;
	}
	if (proc_lacks_privileges(task->tid))
		msg_warn("process %d runs a set-user-ID or set-group-ID program without those privileges: the kernel "
			 "gives none to a traced program, unless functrace runs as root",
			 task->tid);
	struct process *p = process_new(t, task->tid, task->tid);

	if (!p) {
		warn_not_traced(task->tid, errno);
		t->run->sums.untraced_children++;
		if (first)
			note_run_has_begun(t);
		task_release(t, task, 0);
		return;
	}
	p->trace->origin.is_launched = launched;
	p->trace->origin.is_child = is_child;
	task_join(task, p);
	sigtrap_learn_masks(p);
	/* The process is started here, even while begin_all() starts others one after the other:
	 *
	 *	begin_all(): starts sh | sh executes ls: started here | begin_all(): must not start ls again */
	p->life->was_started = true;
	const int error = t->run->paused ? 0 : process_start(p);

	/* A program that was killed after its exec has no objects any more. Its end is reported next. */
	if (error < 0 && first && (error != -ESRCH || proc_is_alive(task->tid))) {
		launch_failed(t, task);
		return;
	}
	if (first)
		note_run_has_begun(t);
	task_resume(task, 0);
}
