/* Collects stops of tasks by waits for any task. If there are many tasks, asks for the stops of those that stopped
 * recently, or that SIGCHLD names. */
#include "config.h"
#include "ptrace/collect.h"
#include "ptrace/spin.h"
#include "ptrace/pending_stops.h"
#include "ptrace/tasks.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define RECENT_TASKS 16

struct recent {
	pid_t tid;
	uint64_t time; /* time of the task's latest stop, CLOCK_MONOTONIC in ns */
};

struct collector {
	/* The tasks that stopped recently, used when there are many tasks. */
	struct recent recent[RECENT_TASKS];
	size_t recent_turn;
	unsigned singles; /* number of waits in which wait_all() will not look for further stops */
	uint64_t next_sweep;
	bool many_busy;

	struct spin spin;
	bool after_hit;     /* the latest stop was a hit */
	uint64_t look_ns;   /* time between two looks at the kernel's records */
	bool one_processor; /* functrace may run on one CPU only */
};

struct collector *collector_new(void)
{
	struct collector *c = xcalloc(1, sizeof(*c));
	cpu_set_t processors;

	c->one_processor = sched_getaffinity(0, sizeof(processors), &processors) == 0 && CPU_COUNT(&processors) == 1;
	return c;
}

/* Waits once. Returns STOP_NONE if there are no children, or, with WNOHANG, if no stop is present. */
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

/* A wait for all tasks returns the newest stop. A tracer that handled each stop at once would never get to the older
 * stops: of 16 threads that allocate all the time, 9 would stay stopped. So the tracer collects all present stops
 * before it handles the first. If it found only one, it does not look for more in the next SINGLE_STOPS waits, because
 * looking costs a system call. */

#define SINGLE_STOPS 16

/* Queues all other stops that are present, and sets *found to their number; returns the stop to handle first. */
static struct stop drain(struct tracer *t, struct stop first, size_t *found)
{
	for (*found = 0;; ++*found) {
		const struct stop stop = collect_wait_for(t, -1, WNOHANG);

		if (stop.kind == STOP_NONE)
			return first;
		if (stop.kind == STOP_EXEC && stop.tid == first.tid) {
			first = stop; /* `first` was a stop of the leader, which the exec has replaced */
			continue;
		}
		if (task_find(t, stop.tid)) {
			stops_put_back(t, &stop);
			continue;
		}
		/* `stop` is of a new task, or is the exit of a child that is no tracee. It is returned at once, because
		 * the queue is for tasks of the table only. */
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

/* Polls for a stop up to `looks` times and then sleeps, or sleeps at once: see spin.h. */
static struct stop poll_or_sleep(struct tracer *t, unsigned looks, struct stop (*look)(struct tracer *t),
				 struct stop (*sleep_until)(struct tracer *t))
{
	struct stop stop = {.kind = STOP_NONE};
	bool timed;

	/* Each poll takes the kernel's tasklist lock, which forks and exits of tasks need too. So the tracer polls only
	 * after a hit, because then the next stop is probably another hit and comes soon. */
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

/* Limits of the time between two looks at the kernel's records. The longest is shorter than the time in which copies of
 * stacks fill the ring, because a thread that blocks the signal of a full ring does not wake this one. */
#define LOOK_MIN_NS 500000u
#define LOOK_MAX_NS 4000000u
/* The numbers of bytes at a look after which this time is halved and doubled. They are no numbers of records, because a
 * record with a copy of a stack is as long as a hundred others. */
#define LOOK_MANY (1u << 20)
#define LOOK_FEW  (128u << 10)

/* Waits for a stop of any task, and takes the records of the kernel's probes meanwhile. SIGCHLD, which every stop
 * raises, ends the wait at once; if it was merged with another, the next look finds the stop. */
static struct stop wait_taking_events(struct tracer *t)
{
	uint64_t *const time_ns = &t->collector->look_ns;
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	while (t->tasks.count) {
		const struct stop stop = collect_wait_for(t, -1, WNOHANG);

		if (stop.kind != STOP_NONE)
			return stop;
		const size_t size = t->take_events(t);

		if (size > LOOK_MANY)
			*time_ns /= 2;
		else if (size < LOOK_FEW)
			*time_ns *= 2;
		*time_ns = *time_ns < LOOK_MIN_NS ? LOOK_MIN_NS : *time_ns > LOOK_MAX_NS ? LOOK_MAX_NS : *time_ns;
		sigtimedwait(&child, NULL, &(struct timespec){.tv_nsec = (long)*time_ns});
	}
	return collect_wait_for(t, -1, 0);
}

static struct stop sleep_until_any(struct tracer *t)
{
	if (t->take_events)
		return wait_taking_events(t);
	return collect_wait_for(t, -1, 0);
}

/* Waits for a stop of any task. Polls fewer times if there are more tasks, because the kernel walks the list of all
 * tasks at each poll. */
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

/* A wait for all tasks walks the kernel's list of the tracer's tasks, twice if it has to sleep: 10 us per walk with
 * 1000 tasks, 60 us with 4000. With more than MANY_TASKS the tracer waits only for the task that SIGCHLD names. SIGCHLD
 * does not queue: if several tasks stop at once, it names only one. So if several tasks stopped recently, the tracer
 * asks for a stop of each before it sleeps. Every 1 to 100 ms, and whenever a task stops that had not stopped recently,
 * it collects all present stops (a sweep). */

#define MANY_TASKS 64
/* The time between two sweeps is this multiple of the last sweep's duration, within the bounds below. So sweeps take
 * only a small part of the tracer's time, although a walk over stopped tasks is slow. */
#define SWEEP_TIMES  20
#define SWEEP_MIN_NS 1000000u
#define SWEEP_MAX_NS 100000000u
#define BUSY_NS      5000000u /* time after a stop for which a task counts as busy */
/* The limit of one wait for SIGCHLD. It is longer than a tick of the kernel, because a shorter timer costs 4 us per
 * stop in virtual machines. */
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
	/* the task's own entry, or else the entry of the task whose last stop is the oldest */
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
			t->collector->recent_turn = at + 1; /* next time, ask the other tasks first */
			return stop;
		}
	}
	return (struct stop){.kind = STOP_NONE};
}

/* Returns the next stop of a task that SIGCHLD names or that is busy; STOP_NONE after SILENCE_NS without SIGCHLD. */
static struct stop wait_named(struct tracer *t)
{
	const struct timespec silence = {.tv_nsec = SILENCE_NS};
	sigset_t child;
	siginfo_t info;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		const uint64_t now = clock_ns(CLOCK_MONOTONIC);

		/* If only one task is busy, SIGCHLD names it. */
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
	/* If more tasks are busy than `recent` can hold, wait for all tasks at once: the kernel soon finds a busy
	 * one. */
	if (stop.kind == STOP_NONE && !t->collector->many_busy)
		stop = poll_or_sleep(t, POLLS / 2, wait_busy, wait_named);
	if (stop.kind == STOP_NONE) /* also finds stops that SIGCHLD did not announce */
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

/* Looks only for stops, not for exits, because the exit of the tracer's own wake-up child does not count. */
bool collect_is_any(const struct tracer *t)
{
	siginfo_t info = {0};

	return stops_are_queued(t) ||
	       (waitid(P_ALL, 0, &info, WSTOPPED | WNOHANG | WNOWAIT | __WALL) == 0 && info.si_pid);
}
