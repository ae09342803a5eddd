/* What processes have lost that are let go of or paused, and go on. */
#include "config.h"
#include "tracer/act.h"
#include "tracer/lost.h"
#include "base/msg.h"
#include "ptrace/collect.h"
#include "ptrace/halt.h"
#include "record/run.h"
#include "scan/ending.h"

#include <time.h>

#define WAIT_MAX   2  /* copies in which a list in flux may hide the heap */
#define COPIES_MAX 12 /* of which one should show a heap that no thread is in the midst of changing */

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

/* Stops all, copies. What they report by that is kept, and they stand until it is acted on. */
static const char *copy_standing(struct process *p, struct ending *ending)
{
	struct task *task = any_task(p);

	if (task)
		ending_warm(ending, task);
	halt_one(p);
	task = standing_task(p);
	if (!task)
		return "none of its threads could be stopped";
	halt_others(task);
	FOR_EACH_TASK(other, p)
		if (task_has_memory(other))
			ending_add_alive(ending, other);
	return ending_copy(ending, task);
}

/* For so long, and on what so many tasks have reported at least; a busy process reports without an end. False: nothing
 * is left to trace. */
static bool act_for(struct tracer *t, uint64_t ns, size_t least)
{
	const uint64_t end = clock_ns(CLOCK_MONOTONIC) + ns;

	for (size_t acted = 0;; acted++) {
		const bool is_over = clock_ns(CLOCK_MONOTONIC) >= end;
		const struct stop stop = is_over && acted >= least ? (struct stop){.kind = STOP_NONE} : collect_now(t);

		if (stop.kind != STOP_NONE) {
			if (!act(t, &stop))
				return false;
		} else if (is_over) {
			return true;
		} else {
			nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
		}
	}
}

/* Never the same time between two copies, so that no rhythm of the process is met. */
static uint64_t pause_before(unsigned copy)
{
	return copy ? 1000000 + copy * 7919 % 7 * 1000000 : 0;
}

static bool look_through(struct process *p)
{
	struct tracer *t = p->tracer;
	struct ending *ending = NULL;
	const char *reason = NULL;
	bool is_passing = true, goes_on = true;
	uint64_t stood = 0;

	for (unsigned copy = 0; copy < COPIES_MAX && is_passing; copy++) {
		goes_on = act_for(t, pause_before(copy), 0);
		if (!goes_on || !p->tasks || !lost_is_wanted(p))
			break;
		ending_free(ending);
		ending = ending_new();
		const uint64_t began = clock_ns(CLOCK_MONOTONIC);

		reason = copy_standing(p, ending);
		lost_know(p->trace, ending);
		is_passing = false;
		stood = clock_ns(CLOCK_MONOTONIC) - began;
		goes_on = act_for(t, 0, 2 * p->task_count);
		if (!goes_on)
			break;
		if (!reason)
			reason = ending_read(ending, copy < WAIT_MAX, &is_passing);
		if (!reason && ending_is_locked(ending)) {
			reason = "a thread was in the midst of malloc each time";
			is_passing = true;
		}
	}
	if (ending && p->tasks && lost_is_wanted(p)) {
		msg_info("process %d stood for %.1f ms, in which its memory was copied", p->pid, (double)stood / 1e6);
		lost_put(p->trace, ending, reason);
	}
	ending_free(ending);
	return goes_on;
}

bool lost_at_detach(struct tracer *t)
{
	struct process *p;
	bool goes_on = true;

	if (!t->set->scan.is_traced || t->run->paused)
		return true;
	for (p = t->processes; p; p = p->next)
		p->life->is_looked_through = false;
	do {
		for (p = t->processes; p && (p->life->is_looked_through || !lost_is_wanted(p) || p->trace->broken);
		     p = p->next)
			;
		if (!p)
			break;
		p->life->is_looked_through = true;
		process_ref(p);
		goes_on = look_through(p);
		process_unref(p, NULL);
	} while (goes_on);
	return goes_on;
}
