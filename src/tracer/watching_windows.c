#include "config.h"
#include "tracer/watching_parts.h"
#include "tracer/process_start.h"
#include "engine/engine.h"
#include "record/ledger.h"
#include "base/util.h"

/* What a call costs the target in a window: the mean of malloc and free, measured by the CPU time of a program that
 * calls both, with 3 to 15 frames. The stops at breakpoints take the time that functrace needs for them, which is
 * measured, and these switches. */
#define KERNEL_CALL_NS 1250u
#define STOP_NS        4000u

/* A window ends early after this number of calls: they tell enough, and a program that makes so many is slowed down by
 * its probes. The kernel's ring has room for them. */
#define CALLS_MAX 30000

void watching_take_call(struct call_sink *sink, const struct event *e, enum call_kind kind)
{
	struct watching *const one = (struct watching *)sink;

	one->calls++;
	if (!one->is_open || !e->id)
		return;
	if (one->window_end && one->calls - one->calls_before >= CALLS_MAX) {
		one->window_end = 0;
		engine_set_alarm(one->p->tracer->engine, 1);
	}
	if (kind == CALL_RELEASE) {
		const uint32_t size_class = watching_class(one, ledger_size(one->p->trace, 1, e->id));

		watch_released(one->watch, e->time_ns, e->id, size_class);
		watch_recent_released(one->recent, e->time_ns, e->id, size_class);
	} else if (kind == CALL_ALLOC) {
		const uint32_t size_class = watching_class(one, e->size),
			       stack = watching_stack(one->stacks, &one->p->objects, e);

		watch_allocated(one->watch, e->time_ns, e->id, e->size, size_class, stack);
		watch_recent_allocated(one->recent, e->time_ns, e->id, e->size, size_class, stack);
	}
}

void watching_open_window(struct watching *one)
{
	struct process *const p = one->p;
	uint64_t now;

	process_ref(p);
	if (one->is_started)
		process_wake(p);
	else
		process_start_running(p);
	/* The process may have ended meanwhile. */
	one->is_started = one->p && p->life->planted;
	process_unref(p, NULL);
	if (!one->p || !one->is_started)
		return;
	now = clock_ns(CLOCK_MONOTONIC);
	watching_stacks_moved(one->stacks);
	one->calls_before = one->calls;
	one->own_begin = watching_own_ns(one);
	watching_work_begin(one, now);
	watch_window_begin(one->watch, now, watching_work(one));
	watch_recent_window_begin(one->recent, now, watching_work(one));
	one->opened_at = now;
	one->is_open = true;
	one->window_end = now + one->window_ns;
}

void watching_close_window(struct watching *one)
{
	struct process *const p = one->p;
	const uint64_t calls = one->calls - one->calls_before;

	/* process_rest() takes the last records. Calls until the probes are removed are part of the window. */
	process_rest(p);
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	/* While functrace acts on a stop, the target waits. */
	const uint64_t delay =
		p->tracer->uprobes ? calls * KERNEL_CALL_NS : calls * STOP_NS + watching_own_ns(one) - one->own_begin;

	one->spent.target += delay;
	watching_work_end(one, now, delay);
	watching_end_window(one, now, watching_work(one));
	one->is_open = false;
	one->windows++;
	/* Releases outside of windows are not seen, so nothing is known of these blocks any more. */
	ledger_free(p->trace);
	ledger_init(p->trace);
}
