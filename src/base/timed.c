/* Reads files with a time limit, in a worker thread: see timed.h. */
#include "config.h"
#include "base/timed.h"
#include "base/util.h"
#include "base/worker.h"
#include "base/time_units.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

/* Time limit of a read while traced programs wait, in ns. It is divided by 4 for each earlier read that is still late,
 * so that the waits for all late reads together take less than a second. */
#define HELD_NS  (UINT64_C(720) * 1000000)
#define FREE_NS  (10 * NS_PER_SECOND)
#define SLICE_NS (UINT64_C(50) * 1000000) /* time between two checks of let_go, in ns */
/* The limit of a read is extended by the time that its worker waits for a CPU, but by at most this many ns. */
#define DELAY_NS (2 * NS_PER_SECOND)
#define LOOK_NS  UINT64_C(1000000) /* time between two calls of the watcher, in ns */
#define LATE_MAX 8                 /* a read is started only while fewer reads than this are late */

const char timed_reason[] = "reading it takes too long";

static __thread bool is_on;

/* The state of timed reading. Only the thread whose reads have limits uses it, except that workers change `late`,
 * too. */
static struct {
	bool is_held;
	const int *let_go;
	struct worker *worker;       /* a worker that has no job, or NULL */
	void (*look)(void *context); /* set by timed_watch() */
	void *look_context;
	atomic_uint late; /* number of late workers that have not finished */
} timed;

struct timed_job {
	struct worker_job job;
	void (*work)(void *context);
	void (*end)(void *context);
	void *context;
};

static void timed_do_work(struct worker_job *job)
{
	const struct timed_job *const mine = (const struct timed_job *)job;

	mine->work(mine->context);
}

/* Frees a job that was late. */
static void end_late(struct worker_job *job)
{
	struct timed_job *const mine = (struct timed_job *)job;

	mine->end(mine->context);
	free(mine);
	atomic_fetch_sub(&timed.late, 1);
}

void timed_begin(const int *let_go)
{
	is_on = true;
	timed.let_go = let_go;
	/* The worker is started now, while this thread may still use every CPU. */
	timed.worker = worker_new("ft-reader");
}

void timed_hold(bool is_held)
{
	timed.is_held = is_held;
}

void timed_watch(void (*look)(void *context), void *context)
{
	timed.look = look;
	timed.look_context = context;
}

void timed_look(void)
{
	if (timed.look)
		timed.look(timed.look_context);
}

static bool timed_is_let_go(void)
{
	struct pollfd fd = {.fd = timed.let_go ? *timed.let_go : -1, .events = POLLIN};

	return timed.let_go && poll(&fd, 1, 0) > 0;
}

/* Returns true if the worker waits for a CPU now, or if `waited`, the ns since its job began, is less than `limit` plus
 * the time for which the worker has waited for a CPU. began: the worker's times soon after the job began; last: its
 * times at the previous check (at first, `began`), which this function updates. */
static bool is_delayed(const struct worker *worker, const struct worker_times *began, struct worker_times *last,
		       uint64_t waited, uint64_t limit)
{
	const uint64_t ran_before = last->ran;

	if (!worker_times(worker, last))
		return false;
	return (last->is_runnable && last->ran == ran_before) || waited < limit + (last->delayed - began->delayed);
}

static bool timed_wait_for(struct worker *worker, const struct worker_job *job, unsigned late)
{
	const uint64_t began = clock_ns(CLOCK_MONOTONIC), held = HELD_NS >> (2 * late);
	const uint64_t slice = timed.look ? LOOK_NS : SLICE_NS;
	struct worker_times first, last;
	bool has_looked = false, is_known = false;

	for (;;) {
		const uint64_t limit = timed.is_held || timed_is_let_go() ? held : FREE_NS;
		const uint64_t waited = clock_ns(CLOCK_MONOTONIC) - began;
		const uint64_t left = waited < limit ? limit - waited : 0;

		timed_look();
		if (worker_wait(worker, job, left && left < slice ? left : slice))
			return true;
		/* Most reads take less than a slice, and need not look into /proc. */
		if (!has_looked) {
			is_known = worker_times(worker, &first);
			last = first;
			has_looked = true;
		}
		if (left <= slice && (!is_known || waited > limit + DELAY_NS ||
				      !is_delayed(worker, &first, &last, waited + left, limit)))
			return false;
	}
}

bool timed_do(void (*work)(void *context), void (*end)(void *context), void *context)
{
	const unsigned late = atomic_load(&timed.late);

	if (!is_on) {
		work(context);
		return true;
	}
	if (late >= LATE_MAX) {
		end(context);
		return false;
	}
	struct timed_job *const mine = xmalloc(sizeof(*mine));

	*mine = (struct timed_job){
		.job = {.work = timed_do_work, .end = end_late}, .work = work, .end = end, .context = context};
	if (!timed.worker)
		timed.worker = worker_new("ft-reader");
	worker_give(timed.worker, &mine->job);
	if (timed_wait_for(timed.worker, &mine->job, late)) {
		free(mine);
		return true;
	}
	atomic_fetch_add(&timed.late, 1);
	worker_drop(timed.worker, &mine->job);
	worker_end(timed.worker);
	timed.worker = NULL;
	return false;
}
