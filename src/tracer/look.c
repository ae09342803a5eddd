#include "config.h"
#include "tracer/look.h"
#include "tracer/act.h"
#include "calls/stack.h"
#include "text/breakpoints.h"
#include "ptrace/collect.h"
#include "ptrace/halt.h"
#include "ptrace/stops.h"
#include "scan/ending.h"
#include "proc/proc.h"

#include <stdlib.h>
#include <time.h>

#define WAIT_MAX   2         /* copies in which a list in flux may hide the heap */
#define QUIET_MAX  8         /* pauses before the tracer acts on what tasks report meanwhile */
#define COPIES_MAX 20        /* of which one should show a heap that no thread is in the midst of changing */
#define RUN_NS     100000u   /* in which a thread comes out of malloc, or to a hit */
#define RUN_MAX_NS 50000000u /* for which threads are waited for that get no processor */

static struct task *standing_task(struct process *p)
{
	FOR_EACH_TASK(task, p)
		if (task_has_memory(task) && task->stopped && !task->listening)
			return task;
	return NULL;
}

static struct task *any_task(struct process *p)
{
	FOR_EACH_TASK(task, p)
		if (task_has_memory(task))
			return task;
	return NULL;
}

static void spare_sleepers(struct process *p)
{
	FOR_EACH_TASK(task, p)
		task->is_spared = task_would_see_eintr(task);
}

/* One of those that were, if any. */
static struct task *unspare(struct process *p)
{
	struct task *spared = NULL;

	FOR_EACH_TASK(task, p) {
		if (task->is_spared && task_has_memory(task))
			spared = task;
		task->is_spared = false;
	}
	return spared;
}

/* Stops all: what they report by that is kept, and they stand until it is acted on. One by which the memory can be
 * read, NULL: none stands. */
static struct task *halt_all(struct process *p, const struct look_wish *wish)
{
	if (wish->spares_sleepers)
		spare_sleepers(p);
	halt_one(p);
	struct task *const task = standing_task(p);

	if (task)
		halt_others(task);
	struct task *const spared = unspare(p);

	return task ? task : spared;
}

/* A function that a task stands at the entry of, by a breakpoint, has not begun: whom it will return to; 0: it stands
 * elsewhere. */
static uint64_t caller_at_entry(struct task *task)
{
	struct process *p = task->process;
	uint64_t caller;

	if (!task->stopped || task_regs(task) < 0)
		return 0;
	const struct breakpoint *const b = breakpoint_find(p, p->arch->breakpoint_address(p->arch->pc(&task->regs)));

	if (!b || !b->inserted || !b->probe || !task_hit_by_kernel(task))
		return 0;
	return stack_return_address(task, false, &caller) ? caller : 0;
}

static const char *copy_standing(struct process *p, struct task *task, struct ending *ending)
{
	if (!task)
		return "none of its threads could be stopped";
	FOR_EACH_TASK(other, p)
		if (task_has_memory(other))
			ending_add_alive(ending, other, caller_at_entry(other));
	return ending_copy(ending, task);
}

/* Those run on that stand for the copy alone. The others have something to report that is acted on later. */
static bool let_go_on(struct tracer *t)
{
	struct stop stop;

	while (stops_take_interrupt(t, &stop))
		if (!act(t, &stop))
			return false;
	return true;
}

/* Acts for so long on what tasks report; a busy process reports without an end. False: nothing is left to trace. */
static bool act_for(struct tracer *t, uint64_t ns)
{
	const uint64_t end = clock_ns(CLOCK_MONOTONIC) + ns;

	while (clock_ns(CLOCK_MONOTONIC) < end) {
		const struct stop stop = collect_now(t);

		if (stop.kind == STOP_NONE)
			nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
		else if (!act(t, &stop))
			return false;
	}
	return true;
}

struct runner {
	pid_t tid;
	uint64_t ran_ns;
};

/* Whether it wants a processor, and has not had one for long enough. */
static bool is_held_up(const struct runner *runner)
{
	struct proc_stat stat;
	uint64_t ran_ns;

	return proc_stat(runner->tid, &stat) && stat.state == 'R' && proc_run_time(runner->tid, &ran_ns) &&
	       ran_ns - runner->ran_ns < RUN_NS;
}

/* Naps, for longer where some of the threads that go on have not been on a processor meanwhile: a busy machine. */
static void let_run(const struct process *p, uint64_t ns)
{
	struct runner *const runners = xcalloc(p->task_count + 1, sizeof(*runners));
	const uint64_t began = clock_ns(CLOCK_MONOTONIC);
	size_t count = 0;
	bool is_any = true;

	FOR_EACH_TASK(task, p)
		if (!task->stopped && proc_run_time(task->tid, &runners[count].ran_ns))
			runners[count++].tid = task->tid;
	while (is_any && clock_ns(CLOCK_MONOTONIC) - began < RUN_MAX_NS) {
		nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
		is_any = false;
		for (size_t i = 0; i < count && !is_any; i++)
			is_any = is_held_up(&runners[i]);
	}
	free(runners);
}

/* Never the same time between two pauses, so that no rhythm of the process is met. At first nothing is acted on but the
 * pause itself: a task that comes to a hit stands there, and is in the midst of nothing, until all that allocate
 * stand so and the heap is at rest; and no event comes before the copy. What holds the heap up may be a task that
 * stands for something else, with a signal: before the later ones that is acted on, and then they run to their hits. */
static bool rest_before(struct process *p, unsigned pause)
{
	const uint64_t time = 500000 + pause * 7919 % 7 * 500000;

	if (pause > QUIET_MAX && !act_for(p->tracer, time * 2))
		return false;
	if (pause && p->tasks)
		let_run(p, time);
	return true;
}

/* NULL, or why its heap is not known. */
static const char *read_copy(struct ending *ending, unsigned copy, bool *is_passing)
{
	const char *const reason = ending_read(ending, is_passing);

	if (reason) {
		*is_passing &= !ending_is_unknown(ending) || copy < WAIT_MAX;
		return reason;
	}
	*is_passing = ending_is_locked(ending);
	return *is_passing ? "a thread was in the midst of malloc each time" : NULL;
}

/* One pause. False: without a copy. */
static bool pause_once(struct process *p, const struct look_wish *wish, bool may_be_early, struct look *look)
{
	struct ending *const ending = ending_new();
	struct task *const running = any_task(p);

	ending_limit(ending, wish->limit);
	if (wish->is_for_blocks)
		ending_blocks_only(ending);
	if (running && (look->reason = ending_warm(ending, running))) {
		look->ending = ending;
		return true;
	}
	const uint64_t began = clock_ns(CLOCK_MONOTONIC);
	struct task *const task = halt_all(p, wish);
	const bool is_early = may_be_early && wish->is_early && wish->is_early(p);

	if (!is_early)
		look->reason = copy_standing(p, task, ending);
	look->goes_on = let_go_on(p->tracer);
	look->stood_ns = clock_ns(CLOCK_MONOTONIC) - began;
	if (is_early)
		ending_free(ending);
	else
		look->ending = ending;
	return !is_early;
}

static void forget_copy(struct look *look)
{
	ending_free(look->ending);
	look->ending = NULL;
}

struct look look_through(struct process *p, const struct look_wish *wish)
{
	struct look look = {.goes_on = true};
	bool is_passing = true;

	for (unsigned pause = 0, copy = 0; copy < COPIES_MAX && is_passing; pause++) {
		look.goes_on = rest_before(p, pause);
		forget_copy(&look);
		if (!look.goes_on || !p->tasks || !wish->is_wanted(p))
			break;
		if (!pause_once(p, wish, pause < QUIET_MAX, &look))
			continue;
		is_passing = false;
		if (!look.reason)
			look.reason = read_copy(look.ending, copy, &is_passing);
		copy++;
		if (!look.goes_on)
			break;
	}
	return look;
}
