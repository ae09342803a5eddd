#include "config.h"
#include "tracer/task_life.h"
#include "tracer/process.h"
#include "calls/calls.h"
#include "record/trace_output.h"
#include "breakpoints/out_of_line_slots.h"
#include "ptrace/tasks.h"

#include <stdlib.h>

struct task *task_begin(struct tracer *t, pid_t tid, pid_t tgid, struct process *p, enum task_phase phase)
{
	struct task *task = task_new(t, tid, tgid, p, phase);

	task->life = xcalloc(1, sizeof(*task->life));
	return task;
}

void task_begin_again(struct task *leader)
{
	task_replace(leader);
	*leader->life = (struct task_life){.release_at_exec = leader->life->release_at_exec};
}

void task_go_on(struct tracer *t, struct task *task)
{
	if (!process_is_leaving(t, task->process)) {
		task_resume(task, 0);
		return;
	}
	task_make_ready(task, 0);
	t->may_let_go = true; /* some tasks, which could not be stopped before, can be detached now */
}

void task_make_ready(struct task *task, int signal)
{
	task->life->parting.is_ready = true;
	task->life->parting.signal = signal;
}

/* Frees all data of a task. Returns its process, with the task's reference, which the caller then owns; NULL: it had
 * none. */
static struct process *task_free(struct tracer *t, struct task *task)
{
	/* Forget the name of the thread: if the tid is reused for another thread, that thread's name must be
	 * written. */
	if (task->process)
		output_forget_thread(task->process->trace, task->tid);
	task_calls_free(task, false);
	hits_free(task);
	free(task->life);
	struct process *p = task_part(task);

	task_delete(t, task);
	return p;
}

void task_forget(struct tracer *t, struct task *task, const char *how)
{
	struct process *p = task_free(t, task);

	if (p)
		process_unref(p, how);
}

void task_forget_group(struct tracer *t, pid_t tgid, const struct task *keep)
{
	struct task *task;

	for (size_t i = 0; (task = tasks_next(t, &i));) {
		if (task == keep || task->tgid != tgid || task->phase != PHASE_LIVE)
			continue;
		task_forget(t, task, NULL);
		i = 0; /* freeing may have moved any entry of the table */
	}
}

void task_release(struct tracer *t, struct task *task, int sig)
{
	task_detach(task, sig);
	task_forget(t, task, NULL);
}
