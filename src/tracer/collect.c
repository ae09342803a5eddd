#include "config.h"
#include "tracer/stop.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

static enum task_phase phase_of(struct tracer *t, pid_t tid)
{
	const struct task *task = task_find(t, tid);

	return task ? task->phase : PHASE_UNKNOWN;
}

void collect_later(struct tracer *t, const struct stop *stop)
{
	if (t->queue_head && t->queue_count == t->queue_capacity) {
		memmove(t->queue, t->queue + t->queue_head,
			(t->queue_count - t->queue_head) * sizeof(*t->queue));
		t->queue_count -= t->queue_head;
		t->queue_head = 0;
	}
	ARRAY_GROW(t->queue, t->queue_capacity, t->queue_count);
	t->queue[t->queue_count++] = *stop;
}

static bool from_queue(struct tracer *t, struct stop *stop)
{
	while (t->queue_head < t->queue_count) {
		*stop = t->queue[t->queue_head++];
		/* What has become of the task meanwhile decides; it may have gone with an exec. */
		*stop = stop_decode(stop->tid, stop->status, phase_of(t, stop->tid));
		if (task_find(t, stop->tid))
			return true;
	}
	t->queue_head = t->queue_count = 0;
	return false;
}

static struct stop stopped(struct tracer *t, pid_t tid, int status)
{
	struct task *task = task_find(t, tid);

	if (task) {
		task->stopped = WIFSTOPPED(status);
		task->listening = false;
		task->regs_known = false;
	}
	return stop_decode(tid, status, task ? task->phase : PHASE_UNKNOWN);
}

/* One wait4. STOP_NONE when it has nothing (now, with WNOHANG). */
static struct stop wait_for(struct tracer *t, pid_t which, int flags)
{
	int status;

	for (;;) {
		const pid_t tid = wait4(which, &status, __WALL | flags, NULL);

		if (tid > 0)
			return stopped(t, tid, status);
		if (tid < 0 && errno == EINTR)
			continue;
		return (struct stop){.kind = STOP_NONE};
	}
}

/* wait4(-1) walks the list of all tasks, the newest first: 61 us a stop with 1000 tasks of which an old one
 * is busy. Above MANY_TASKS the child that SIGCHLD names is asked first; SIGCHLD does not queue, so then those
 * that have stopped lately, and at last all of them, at least once a millisecond. */

#define MANY_TASKS 128
#define SWEEP_NS   1000000u

static void remember_recent(struct tracer *t, pid_t tid)
{
	for (size_t i = 0; i < RECENT_TASKS; i++)
		if (t->recent[i] == tid)
			return;
	t->recent[t->recent_next++ % RECENT_TASKS] = tid;
}

static struct stop wait_recent(struct tracer *t)
{
	for (size_t i = 0; i < RECENT_TASKS; i++) {
		const size_t at = (t->recent_turn + i) % RECENT_TASKS;
		const struct task *task = t->recent[at] ? task_find(t, t->recent[at]) : NULL;

		if (!task || task->stopped)
			continue;
		const struct stop stop = wait_for(t, t->recent[at], WNOHANG);

		if (stop.kind != STOP_NONE) {
			t->recent_turn = at + 1; /* the others first, next time */
			return stop;
		}
	}
	return (struct stop){.kind = STOP_NONE};
}

static struct stop wait_led(struct tracer *t)
{
	const struct timespec millisecond = {.tv_nsec = SWEEP_NS};
	struct stop stop = {.kind = STOP_NONE};
	sigset_t child;
	siginfo_t info;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		const uint64_t now = clock_ns(CLOCK_MONOTONIC);

		if (now - t->last_sweep > SWEEP_NS) {
			stop = wait_for(t, -1, WNOHANG);
			if (stop.kind == STOP_NONE)
				t->last_sweep = now;
			else
				break;
		}
		stop = wait_recent(t);
		if (stop.kind != STOP_NONE)
			break;
		if (sigtimedwait(&child, &info, &millisecond) == SIGCHLD) {
			stop = wait_for(t, info.si_pid, WNOHANG);
			if (stop.kind != STOP_NONE)
				break;
			continue;
		}
		/* Silence: nothing can be lost by sleeping until something happens. */
		stop = wait_for(t, -1, 0);
		break;
	}
	if (stop.kind != STOP_NONE && stop.kind != STOP_STRANGER)
		remember_recent(t, stop.tid);
	return stop;
}

struct stop collect(struct tracer *t)
{
	struct stop stop;

	if (from_queue(t, &stop))
		return stop;
	return t->tasks.count > MANY_TASKS ? wait_led(t) : wait_for(t, -1, 0);
}

struct stop collect_now(struct tracer *t)
{
	struct stop stop;

	if (from_queue(t, &stop))
		return stop;
	return wait_for(t, -1, WNOHANG);
}
