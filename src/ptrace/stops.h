/* Taking stops from the kernel, and putting them back for later. */
#ifndef FT_PTRACE_STOPS_H
#define FT_PTRACE_STOPS_H

#include "ptrace/tasks.h"

#include <sys/wait.h>

/* waitpid() for one task, or for all (-1), with __WALL: the one way in which the tracer takes stops, because the
 * guard knows then what has been taken. The task, 0 (WNOHANG: nothing now), or -1 and errno. */
static inline pid_t stops_wait(struct tracer *t, pid_t which, int flags, int *status)
{
	const pid_t tid = guard_wait(t->engine, which, flags, status);
	const struct task *task = tid > 0 ? task_find(t, tid) : NULL;

	if (tid > 0)
		guard_took(t->engine, task ? task->seat : -1, *status);
	return tid;
}
/* Whether any has been taken and put back. */
static inline bool stops_are_queued(const struct tracer *t)
{
	return t->stops.head < t->stops.count;
}
/* Marks a known task with what has been taken from it. Every stop is marked by this, once or more often, before
 * anything is asked of the task or done with it. */
static inline void stops_mark(struct task *task, const struct stop *stop)
{
	task->stopped = stop->kind != STOP_GONE;
	task->elsewhere = stop->kind == STOP_EXEC || stop->kind == STOP_EXIT || stop->kind == STOP_GONE;
	task->regs_known = task->listening = false;
	task->vforking = false; /* a parent in vfork stops only when that is over */
}
/* Decodes what has been taken from a task, and marks the task if it is a known one. */
static inline struct stop stops_note(struct tracer *t, pid_t tid, int status)
{
	struct task *task = task_find(t, tid);

	if (!task)
		return stop_decode(tid, status, PHASE_UNKNOWN);
	const struct stop stop = stop_decode(tid, status, task->phase);

	stops_mark(task, &stop);
	return stop;
}

/* Puts a stop of a task back: collect() gives it out later, before it waits. */
void stops_put_back(struct tracer *t, const struct stop *stop);
/* stops_mark() and stops_put_back() of what a known task has reported at a bad time. */
void stops_keep(struct tracer *t, struct task *task, const struct stop *stop);
/* Drops what was put back for a task that has been replaced by another of that id. */
void stops_forget(struct tracer *t, pid_t tid);
/* The next one that was put back and is no more than the tracer's own interrupt; others are passed over. False: there
 * is none. */
bool stops_take_interrupt(struct tracer *t, struct stop *stop);
/* The next one that was put back and still concerns its task. False: there is none. */
bool stops_take_slow(struct tracer *t, struct stop *stop);
/* The same, of all tasks but those of a process. NULL: of all. */
bool stops_take_but(struct tracer *t, const struct process *p, struct stop *stop);
static inline bool stops_take(struct tracer *t, struct stop *stop)
{
	return t->stops.count && stops_take_slow(t, stop);
}

#endif
