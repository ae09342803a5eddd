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

/* wait4(-1) walks the list of all tasks, twice if it has to sleep: 10 us a walk with 1000 tasks, 60
 * with 4000. Above MANY_TASKS the child that SIGCHLD names is asked instead. SIGCHLD does not
 * queue: of tasks that stop at once only one is named. So where several are busy, those are asked
 * one by one before sleeping; all tasks are asked once a millisecond, and whenever one has stopped
 * that was not busy. */

#define MANY_TASKS 128
#define SWEEP_NS   1000000u
#define BUSY_NS    5000000u /* how long a task is busy after a stop */
/* A timer that is due before the kernel's next tick would cost 4 us a stop in virtual machines. */
#define SILENCE_NS 5000000u

/* True if it was not busy. */
static bool note_busy(struct tracer *t, pid_t tid, uint64_t now)
{
	struct recent *oldest = &t->recent[0];

	for (size_t i = 0; i < RECENT_TASKS; i++) {
		struct recent *r = &t->recent[i];

		if (r->tid == tid) {
			const bool silent = now - r->time > BUSY_NS;

			r->time = now;
			return silent;
		}
		if (r->time < oldest->time)
			oldest = r;
	}
	*oldest = (struct recent){tid, now};
	return true;
}

static size_t busy_count(const struct tracer *t, uint64_t now)
{
	size_t count = 0;

	for (size_t i = 0; i < RECENT_TASKS; i++)
		count += now - t->recent[i].time <= BUSY_NS;
	return count;
}

static struct stop wait_busy(struct tracer *t, uint64_t now)
{
	for (size_t i = 0; i < RECENT_TASKS; i++) {
		const size_t at = (t->recent_turn + i) % RECENT_TASKS;
		const struct recent *r = &t->recent[at];
		const struct task *task = now - r->time <= BUSY_NS ? task_find(t, r->tid) : NULL;

		if (!task || task->stopped)
			continue;
		const struct stop stop = wait_for(t, r->tid, WNOHANG);

		if (stop.kind != STOP_NONE) {
			t->recent_turn = at + 1; /* the others first, next time */
			return stop;
		}
	}
	return (struct stop){.kind = STOP_NONE};
}

/* The next stop without wait4(-1); STOP_NONE after a silence. */
static struct stop wait_named(struct tracer *t)
{
	const struct timespec silence = {.tv_nsec = SILENCE_NS};
	sigset_t child;
	siginfo_t info;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		const uint64_t now = clock_ns(CLOCK_MONOTONIC);

		/* One busy task is always named. */
		if (busy_count(t, now) > 1) {
			const struct stop stop = wait_busy(t, now);

			if (stop.kind != STOP_NONE)
				return stop;
		}
		if (sigtimedwait(&child, &info, &silence) != SIGCHLD)
			return (struct stop){.kind = STOP_NONE};
		const struct stop stop = wait_for(t, info.si_pid, WNOHANG);

		if (stop.kind != STOP_NONE)
			return stop;
	}
}

static struct stop wait_led(struct tracer *t)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct stop stop = {.kind = STOP_NONE};

	/* More are busy than can be kept in mind: the walk ends early, at one of them. */
	if (busy_count(t, now) == RECENT_TASKS)
		stop = wait_for(t, -1, 0);
	else if (now - t->last_sweep > SWEEP_NS) {
		t->last_sweep = now;
		stop = wait_for(t, -1, WNOHANG);
	}
	if (stop.kind == STOP_NONE)
		stop = wait_named(t);
	if (stop.kind == STOP_NONE) /* nothing can be lost by sleeping until something happens */
		stop = wait_for(t, -1, 0);
	if (stop.kind == STOP_NONE || stop.kind == STOP_STRANGER)
		return stop;
	if (note_busy(t, stop.tid, clock_ns(CLOCK_MONOTONIC)))
		t->last_sweep = 0;
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
