#include "config.h"
#include "tracer/seize_stops.h"
#include "tracer/task_life.h"
#include "tracer/stop_pump.h"
#include "ptrace/collect.h"
#include "ptrace/exec_lock.h"
#include "ptrace/pending_stops.h"
#include "ptrace/tasks.h"

#include <stdatomic.h>
#include <stdlib.h>

/* ---- Putting off ---- */

/* A stop that was collected from a task. */
struct taken {
	pid_t tid;
	int status;
	bool went_on; /* resumed from its exit event: see struct stop */
};

struct putting_off {
	const struct taken *taken; /* the stop to put off; NULL: the next stop that the kernel has */
	struct withheld *list;     /* tasks whose stops are held back; NULL: none */
};

/* If the stop's task is in the list, and the stop is not its exit event, holds the stop back and returns true. */
static bool hold_back(struct withheld *list, const struct stop *stop)
{
	for (size_t i = 0; list && i < WITHHELD; i++)
		if (list[i].tid == stop->tid) {
			list[i].exit_event_seen = stop->kind == STOP_EXIT;
			list[i].reported = !list[i].exit_event_seen;
			list[i].status = stop->status;
			return list[i].reported;
		}
	return false;
}

static struct stop take_to_put_off(struct tracer *t, void *context)
{
	const struct taken *const taken = ((const struct putting_off *)context)->taken;

	if (!taken)
		return collect_fresh(t);
	const struct task *const task = task_find(t, taken->tid);
	struct stop stop = stop_decode(taken->tid, taken->status, task ? task->phase : PHASE_UNKNOWN);

	stop.went_on = taken->went_on;
	return stop;
}

/* Puts a stop off. Returns false if the stop is to be acted on now. */
static bool put_off(struct tracer *t, const struct stop *stop, void *context)
{
	struct task *task = task_find(t, stop->tid);

	if (hold_back(((const struct putting_off *)context)->list, stop))
		return true;
	if (stop->kind == STOP_EXIT || stop->kind == STOP_INTERRUPT || (!task && stop->kind != STOP_EXEC)) {
		if (task && !stop->went_on)
			stops_mark(task, stop);
		return false;
	}
	/* A thread has called execve, and its leader is not in the table yet. */
	if (!task)
		task = task_begin(t, stop->tid, stop->tid, NULL, PHASE_LIVE);
	stops_keep(t, task, stop);
	return true;
}

static bool put_off_next(struct tracer *t, const struct taken *taken, struct withheld *list)
{
	struct putting_off putting_off = {taken, list};

	return pump_once(t, &(struct stop_pump){take_to_put_off, put_off, &putting_off}).kind != STOP_NONE;
}

void seize_put_off(struct tracer *t, pid_t tid, int status)
{
	put_off_next(t, &(struct taken){tid, status, false}, NULL);
}

void seize_take_stops(struct tracer *t)
{
	while (put_off_next(t, NULL, NULL))
		;
}

/* ---- An exec meanwhile ----
 *
 * This is the signal handler that ptrace/exec_lock.h describes. It only queues stops, and resumes tasks from their exit
 * events if the exec may wait for their exits. The handler runs only while this thread is inside PTRACE_SEIZE. The
 * queued stops are put off when PTRACE_SEIZE has returned:
 *
 *	101: exec(), waits for the exit of 100 | tracer: SEIZE 102 waits | 100: exit event | handler: resumes 100 |
 *	        100: exits | handler: queues that | 101: exec is done | SEIZE 102: ESRCH | the pump: 100's exit event */

static struct {
	struct tracer *volatile t; /* NULL: no PTRACE_SEIZE is under way */
	pid_t group;               /* thread group of the task that is being seized */
	struct taken *items;
	size_t count, capacity;
} queue;

/* While PTRACE_SEIZE waits, a task has at most three stops (any stop, its exit event, its exit), because tasks are
 * resumed from exit events only. It may have created one child, which may have three more. */
#define STOPS_PER_TASK  6
#define STOPS_OF_OTHERS 64 /* stops of the tracer's own children */

static void reserve_queue(const struct tracer *t)
{
	const size_t most = t->tasks.count * STOPS_PER_TASK + STOPS_OF_OTHERS;

	queue.count = 0;
	if (queue.capacity >= most)
		return;
	queue.capacity = 2 * most;
	queue.items = xreallocarray(queue.items, queue.capacity, sizeof(*queue.items));
}

/* If an exec in this group may wait until the task has ended, resumes the task from its exit event and returns true.
 * Reads the task's registers first, because they may contain the id of a child. */
static bool let_end(struct tracer *t, pid_t tid, int status)
{
	const struct stop stop = stop_decode(tid, status, PHASE_LIVE);
	struct task *const task = task_find(t, tid);

	if (stop.kind != STOP_EXIT || (task && task->tgid != queue.group))
		return false;
	if (task) {
		stops_mark(task, &stop);
		if (task->process)
			task_regs(task);
	}
	task_resume_stranger(tid);
	return true;
}

/* The signal handler: queues all stops. Calls stops_mark() only for the exit events from which it resumes tasks
 * (let_end()); the other stops are marked when they are put off. These exit events are not marked a second time,
 * because stops_mark() would discard the registers that let_end() has read. */
static void queue_stops(void)
{
	struct tracer *const t = queue.t;
	int status;
	pid_t tid;

	while (t && queue.count < queue.capacity && (tid = stops_wait(t, -1, WNOHANG, &status)) > 0)
		queue.items[queue.count++] = (struct taken){tid, status, let_end(t, tid, status)};
}

void seize_begin(void)
{
	exec_lock_watch(queue_stops);
}

void seize_end(void)
{
	exec_lock_unwatch();
	free(queue.items);
	queue.items = NULL;
	queue.capacity = 0;
}

int seize_task(struct tracer *t, pid_t tid, pid_t group, struct withheld list[WITHHELD])
{
	reserve_queue(t);
	queue.group = group;
	queue.t = t;
	atomic_signal_fence(memory_order_seq_cst);
	const int error = task_seize(tid);

	atomic_signal_fence(memory_order_seq_cst);
	queue.t = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	for (size_t i = 0; i < queue.count; i++)
		put_off_next(t, &queue.items[i], list);
	return error;
}
