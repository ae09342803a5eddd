#include "config.h"
#include "tracer/watching_parts.h"
#include "proc/proc.h"
#include "base/time_units.h"
#include "base/util.h"

#include <stdlib.h>
#include <time.h>

/* What the process does, and what the watch takes from it. */

static uint64_t cpu_time_of(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time))
		return 0;
	return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
}

uint64_t watching_work(const struct watching *one)
{
	return clock_ns(CLOCK_MONOTONIC) - one->began - one->work.delayed_ns;
}

#define SATURATED  0.9 /* of a CPU: a process that is less busy waits for others, too */
#define SLEEPS_MIN 20  /* fewer sleeps tell nothing */
#define LEAST_DONE 0.1 /* part of the work that is done in a window at least; less cannot be measured */
#define TASKS_MAX  64  /* number of threads whose sleeps are counted, at most */

/* Returns how often the process's threads have gone to sleep. The kernel counts a stop, too. *threads: a number that
 * changes if a thread begins or ends, because the sleeps of a thread that has ended are no longer known. */
static uint64_t sleeps_of(const struct process *p, uint64_t *threads)
{
	uint64_t number, sum = 0;
	size_t count = 0;

	*threads = p->task_count;
	FOR_EACH_TASK(task, p) {
		char *const status = count++ < TASKS_MAX ? proc_read(task->tid, "status", NULL) : NULL;

		if (status && proc_status_number(status, "voluntary_ctxt_switches", 0, 10, &number))
			sum += number;
		*threads = *threads * 31 + (uint64_t)task->tid;
		free(status);
	}
	return sum > p->resumed ? sum - p->resumed : 0;
}

/* Returns the part of its work that the process has done in a window of `wall` ns, whose probes have delayed it by
 * `delay` ns. A process sleeps when it has done what there is to do, so its sleeps measure its work, in comparison with
 * the time between the windows. If it hardly sleeps, it is busy, and does less in proportion to the delay. So does one
 * whose threads come and go, as far as is known. */
static double part_done(const struct watching *one, double wall, double delay)
{
	const struct watching_work *const work = &one->work;
	const double ran = (double)(cpu_time_of(one->p->pid) - work->cpu);
	const double busy = (ran + (one->p->tracer->uprobes ? 0 : delay)) / wall;
	const double expected = work->sleep_rate * wall;
	uint64_t threads;
	const uint64_t sleeps = sleeps_of(one->p, &threads), slept = sleeps > work->sleeps ? sleeps - work->sleeps : 0;

	if (busy < SATURATED && expected >= SLEEPS_MIN && threads == work->threads)
		return (double)slept / expected;
	return 1 - delay / wall / (busy > 1 ? busy : 1);
}

void watching_work_begin(struct watching *one, uint64_t now)
{
	struct watching_work *const work = &one->work;
	const uint64_t before = work->threads;

	work->cpu = cpu_time_of(one->p->pid);
	work->sleeps = sleeps_of(one->p, &work->threads);
	if (before == work->threads && work->closed_at && now > work->closed_at && work->sleeps > work->sleeps_closed)
		work->sleep_rate = (double)(work->sleeps - work->sleeps_closed) / (double)(now - work->closed_at);
	else
		work->sleep_rate = 0;
}

void watching_work_end(struct watching *one, uint64_t now, uint64_t delay_ns)
{
	struct watching_work *const work = &one->work;
	const double wall = now > one->opened_at ? (double)(now - one->opened_at) : 1;
	double done = part_done(one, wall, (double)delay_ns);

	done = done > 1 ? 1 : done < LEAST_DONE ? LEAST_DONE : done;
	work->delayed_ns += (uint64_t)((1 - done) * wall);
	work->in_windows += (uint64_t)(done * wall);
	work->sleeps_closed = sleeps_of(one->p, &work->threads);
	work->closed_at = now;
}

uint64_t watching_own_ns(const struct watching *one)
{
	return one->spent.own_saved + (clock_ns(CLOCK_PROCESS_CPUTIME_ID) - one->spent.own_before) / one->sharers;
}

uint64_t watching_spent_ns(const struct watching *one)
{
	return watching_own_ns(one) + one->spent.target;
}
