/* Takes stops of tasks from the kernel: by a wait for all tasks, or, with many tasks, by asking the busy ones. */
#include "config.h"
#include "ptrace/collect.h"
#include "ptrace/spin.h"
#include "ptrace/stops.h"
#include "ptrace/tasks.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define RECENT_TASKS 16

struct recent {
	pid_t tid;
	uint64_t time; /* of the task's last stop */
};

struct collector {
	/* The tasks that stopped recently, for waiting among many tasks. */
	struct recent recent[RECENT_TASKS];
	size_t recent_turn;
	unsigned singles; /* number of stops still to be taken singly */
	uint64_t next_sweep;
	bool many_busy;

	struct spin spin;
	bool after_hit;     /* the latest stop was a hit */
	bool one_processor; /* the tracer may run on one processor only */
};

struct collector *collector_new(void)
{
	struct collector *c = xcalloc(1, sizeof(*c));
	cpu_set_t processors;

	c->one_processor = sched_getaffinity(0, sizeof(processors), &processors) == 0 && CPU_COUNT(&processors) == 1;
	return c;
}

/* Waits once. Returns STOP_NONE if there is no stop (with WNOHANG: no stop now). */
static struct stop collect_wait_for(struct tracer *t, pid_t which, int flags)
{
	int status;

	for (;;) {
		const pid_t tid = stops_wait(t, which, flags, &status);

		if (tid > 0) {
			const struct stop stop = stops_note(t, tid, status);

			t->collector->after_hit = stop.kind == STOP_TRAP;
			return stop;
		}
		if (tid < 0 && errno == EINTR)
			continue;
		return (struct stop){.kind = STOP_NONE};
	}
}

/* A wait for all tasks returns the newest stop. A tracer that handled each stop at once would never reach the older
 * stops: of 16 threads that allocate all the time, 9 would stay stopped. So the tracer takes all present stops before
 * it handles them. If there was only one, it takes the next stops singly for a while, because looking for more costs
 * a system call. */

#define SINGLE_STOPS 16

/* Queues all other stops that are present, and counts them; returns the stop to handle first. */
static struct stop drain(struct tracer *t, struct stop first, size_t *found)
{
	for (*found = 0;; ++*found) {
		const struct stop stop = collect_wait_for(t, -1, WNOHANG);

		if (stop.kind == STOP_NONE)
			return first;
		if (stop.kind == STOP_EXEC && stop.tid == first.tid) {
			first = stop; /* the exec has ended the leader, whose stop it replaces */
			continue;
		}
		if (task_find(t, stop.tid)) {
			stops_put_back(t, &stop);
			continue;
		}
		/* The new stop is a newborn's, or the end of a stranger. The queue is for tasks only. */
		if (task_find(t, first.tid))
			stops_put_back(t, &first);
		return stop;
	}
}

#define POLLS 200 /* about 60 us */

bool collect_may_poll(const struct tracer *t)
{
	return !t->collector->one_processor && !t->is_pinned;
}

/* Polls for a stop, or sleeps at once: see spin.h. */
static struct stop poll_or_sleep(struct tracer *t, unsigned looks, struct stop (*look)(struct tracer *t),
				 struct stop (*sleep_until)(struct tracer *t))
{
	struct stop stop = {.kind = STOP_NONE};
	bool timed;

	/* Polling repeatedly takes the kernel's lock of all tasks, which births and ends of tasks need too. Only
	 * after a hit is the next stop another hit, and soon. */
	if (!collect_may_poll(t) || !t->collector->after_hit)
		return sleep_until(t);
	const bool poll = spin_begin(&t->collector->spin, &timed);
	const uint64_t start = timed ? clock_ns(CLOCK_MONOTONIC) : 0;

	for (unsigned i = poll ? looks : 0; i && stop.kind == STOP_NONE; i--)
		stop = look(t);
	const bool slept = stop.kind == STOP_NONE;

	if (slept)
		stop = sleep_until(t);
	spin_done(&t->collector->spin, timed, timed ? clock_ns(CLOCK_MONOTONIC) - start : 0, poll && slept);
	return stop;
}

static struct stop collect_look_at_all(struct tracer *t)
{
	return collect_wait_for(t, -1, WNOHANG);
}

static struct stop sleep_until_any(struct tracer *t)
{
	return collect_wait_for(t, -1, 0);
}

/* Polls less often with more tasks, because the kernel walks the list of all tasks each time. */
static struct stop wait_any(struct tracer *t)
{
	return poll_or_sleep(t, POLLS / (1 + (unsigned)t->tasks.count / 8), collect_look_at_all, sleep_until_any);
}

static struct stop wait_all(struct tracer *t)
{
	const struct stop stop = wait_any(t);
	size_t found;

	if (t->tasks.count < 2)
		return stop;
	if (t->collector->singles) {
		t->collector->singles--;
		return stop;
	}
	if (!task_find(t, stop.tid))
		return stop;
	const struct stop first = drain(t, stop, &found);

	if (!found)
		t->collector->singles = SINGLE_STOPS;
	return first;
}

/* A wait for all walks the list of tasks, twice if it has to sleep: 10 us per walk with 1000 tasks, 60 us with 4000.
 * Above MANY_TASKS the tracer asks the child that SIGCHLD names instead. SIGCHLD does not queue: if several tasks
 * stop at once, it names only one. So if several tasks are busy, the tracer asks each of them before it sleeps. It
 * asks all tasks about once a millisecond, and whenever a task that was not busy has stopped. */

#define MANY_TASKS 64
/* The interval between sweeps is this multiple of a sweep's duration, within bounds, because a walk over stopped
 * tasks is slow. */
#define SWEEP_TIMES  20
#define SWEEP_MIN_NS 1000000u
#define SWEEP_MAX_NS 100000000u
#define BUSY_NS      5000000u /* how long a task counts as busy after a stop */
/* Long enough that the timer is not due before the kernel's next tick, which would cost 4 us per stop in virtual
 * machines. */
#define SILENCE_NS 5000000u

static size_t busy_count(const struct tracer *t, uint64_t now)
{
	size_t count = 0;

	for (size_t i = 0; i < RECENT_TASKS; i++)
		count += now - t->collector->recent[i].time <= BUSY_NS;
	return count;
}

static void note_busy(struct tracer *t, pid_t tid, uint64_t now)
{
	/* the task's place, or that of the task whose last stop is oldest */
	struct recent *place = &t->collector->recent[0];

	for (size_t i = 0; i < RECENT_TASKS; i++) {
		struct recent *r = &t->collector->recent[i];

		if (r->tid == tid) {
			place = r;
			break;
		}
		if (r->time < place->time)
			place = r;
	}
	if ((place->tid != tid || now - place->time > BUSY_NS) && !t->collector->many_busy)
		t->collector->next_sweep = 0;
	*place = (struct recent){tid, now};
}

static struct stop wait_busy(struct tracer *t)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < RECENT_TASKS; i++) {
		const size_t at = (t->collector->recent_turn + i) % RECENT_TASKS;
		const struct recent *r = &t->collector->recent[at];
		const struct task *task = now - r->time <= BUSY_NS ? task_find(t, r->tid) : NULL;

		if (!task || task->stopped)
			continue;
		const struct stop stop = collect_wait_for(t, r->tid, WNOHANG);

		if (stop.kind != STOP_NONE) {
			t->collector->recent_turn = at + 1; /* begin with the other tasks next time */
			return stop;
		}
	}
	return (struct stop){.kind = STOP_NONE};
}

/* Returns the next stop without a wait for all; STOP_NONE after a silence. */
static struct stop wait_named(struct tracer *t)
{
	const struct timespec silence = {.tv_nsec = SILENCE_NS};
	sigset_t child;
	siginfo_t info;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		const uint64_t now = clock_ns(CLOCK_MONOTONIC);

		/* SIGCHLD always names a single busy task. */
		if (busy_count(t, now) > 1) {
			const struct stop stop = wait_busy(t);

			if (stop.kind != STOP_NONE)
				return stop;
		}
		if (sigtimedwait(&child, &info, &silence) != SIGCHLD)
			return (struct stop){.kind = STOP_NONE};
		const struct stop stop = collect_wait_for(t, info.si_pid, WNOHANG);

		if (stop.kind != STOP_NONE)
			return stop;
	}
}

static struct stop sweep(struct tracer *t, uint64_t start)
{
	const struct stop stop = collect_wait_for(t, -1, WNOHANG);
	struct stop first = stop;
	size_t found = 0;

	if (task_find(t, stop.tid))
		first = drain(t, stop, &found);
	const uint64_t end = clock_ns(CLOCK_MONOTONIC), pause = (end - start) * SWEEP_TIMES;

	t->collector->next_sweep = end + (pause < SWEEP_MIN_NS   ? SWEEP_MIN_NS
					  : pause > SWEEP_MAX_NS ? SWEEP_MAX_NS
								 : pause);
	t->collector->many_busy = found >= RECENT_TASKS;
	return first;
}

static struct stop wait_led(struct tracer *t)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct stop stop = {.kind = STOP_NONE};

	if (now > t->collector->next_sweep)
		stop = sweep(t, now);
	/* If more tasks are busy than `recent` holds, a walk ends early, at one of them. */
	if (stop.kind == STOP_NONE && !t->collector->many_busy)
		stop = poll_or_sleep(t, POLLS / 2, wait_busy, wait_named);
	if (stop.kind == STOP_NONE) /* sleeping in a wait for all loses no stop */
		stop = collect_wait_for(t, -1, 0);
	if (task_find(t, stop.tid))
		note_busy(t, stop.tid, clock_ns(CLOCK_MONOTONIC));
	return stop;
}

struct stop collect(struct tracer *t)
{
	struct stop stop;

	if (stops_take(t, &stop))
		return stop;
	return t->tasks.count > MANY_TASKS ? wait_led(t) : wait_all(t);
}

struct stop collect_now(struct tracer *t)
{
	struct stop stop;

	if (stops_take(t, &stop))
		return stop;
	return collect_fresh(t);
}

struct stop collect_all(struct tracer *t)
{
	const struct stop stop = collect_wait_for(t, -1, WNOHANG);
	size_t found;

	return task_find(t, stop.tid) ? drain(t, stop, &found) : stop;
}

struct stop collect_fresh(struct tracer *t)
{
	return collect_wait_for(t, -1, WNOHANG);
}

/* Does not ask for ends of tasks, because the end of the tracer's own wake-up child is one. */
bool collect_is_any(const struct tracer *t)
{
	siginfo_t info = {0};

	return stops_are_queued(t) ||
	       (waitid(P_ALL, 0, &info, WSTOPPED | WNOHANG | WNOWAIT | __WALL) == 0 && info.si_pid);
}
