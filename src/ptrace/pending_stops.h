/* Collects stops from the kernel, and puts them back for later. */
#ifndef FT_PTRACE_PENDING_STOPS_H
#define FT_PTRACE_PENDING_STOPS_H

#include "ptrace/tasks.h"

#include <sys/wait.h>

/* Calls waitpid() for one task, or for all (-1), with __WALL. The tracer collects stops only by this function, so that
 * the guardian's journal contains each collected stop. Returns the task's tid; 0 (WNOHANG: no stop is present); or -1
 * and errno. */
static inline pid_t stops_wait(struct tracer *t, pid_t which, int flags, int *status)
{
	const pid_t tid = guard_wait(t->engine, which, flags, status);
	const struct task *task = tid > 0 ? task_find(t, tid) : NULL;

	if (tid > 0)
		guard_took(t->engine, task ? task->journal_task : -1, *status);
	return tid;
}
/* Returns true if a collected stop was put back and is still queued. Also returns true if the queue contains only items
 * that were taken out of order or dropped: stops_take_slow() has not removed them yet. */
static inline bool stops_are_queued(const struct tracer *t)
{
	return t->stops.head < t->stops.count;
}
/* Marks a task of the table with its latest stop. The tracer calls this at least once for every stop, before it
 * examines or changes the task. */
static inline void stops_mark(struct task *task, const struct stop *stop)
{
	task->stopped = stop->kind != STOP_GONE;
	task->has_left_mm = stop->kind == STOP_EXEC || stop->kind == STOP_EXIT || stop->kind == STOP_GONE;
	task->regs_known = task->listening = false;
	task->vforking = false; /* a parent in vfork stops only when the vfork is over */
}
/* Decodes a wait status of a task, and marks the task if it is in the table. */
static inline struct stop stops_note(struct tracer *t, pid_t tid, int status)
{
	struct task *task = task_find(t, tid);

	if (!task)
		return stop_decode(tid, status, PHASE_UNKNOWN);
	const struct stop stop = stop_decode(tid, status, task->phase);

	stops_mark(task, &stop);
	return stop;
}

/* Puts a stop of a task back: collect() returns it later, before it asks the kernel. */
void stops_put_back(struct tracer *t, const struct stop *stop);
/* Marks a task with a stop that it has reported while the tracer waited for another task, and puts the stop back. */
void stops_keep(struct tracer *t, struct task *task, const struct stop *stop);
/* Drops the queued stops of a task, because another task has taken its tid. */
void stops_forget(struct tracer *t, pid_t tid);
/* Removes and returns the first queued stop that was caused only by the tracer's own interrupt. Leaves other stops in
 * the queue. Returns false if there is none. */
bool stops_take_interrupt(struct tracer *t, struct stop *stop);
/* Removes and returns the first queued stop that still concerns its task. Returns false if there is none. */
bool stops_take_slow(struct tracer *t, struct stop *stop);
/* Does the same as stops_take_slow(), but skips tasks of process p and tasks that are not in the table. If p is NULL,
 * skips none. */
bool stops_take_but(struct tracer *t, const struct process *p, struct stop *stop);
static inline bool stops_take(struct tracer *t, struct stop *stop)
{
	return t->stops.count && stops_take_slow(t, stop);
}

#endif
