#include "config.h"
#include "tracer/model.h"
#include "base/msg.h"

#include <sched.h>
#include <string.h>

/* --cpu=pin: a single busy task and the tracer share one CPU, which halves the cost of a stop (no wake-up of another
 * CPU). It is seen by the task (sched_getaffinity), so only on demand; it is undone as soon as a second task
 * is busy, at the end, at every birth (a mask is inherited), and by the supervisor if the engine dies. */

#define ALONE 256 /* hits in a row of one task before it is pinned */

static bool is_ours(pid_t tid, int cpu)
{
	cpu_set_t now;

	/* The target may have chosen CPUs itself meanwhile: then they are no longer ours to change. */
	return sched_getaffinity(tid, sizeof(now), &now) == 0 && CPU_COUNT(&now) == 1 &&
	       CPU_ISSET(cpu, &now);
}

static void pin_to_own_cpu(struct tracer *t, pid_t tid)
{
	struct pin *pin = &t->pin;
	cpu_set_t one;

	if (sched_getaffinity(tid, sizeof(pin->task_mask), &pin->task_mask) < 0 ||
	    sched_getaffinity(0, sizeof(pin->own_mask), &pin->own_mask) < 0)
		return;
	if (CPU_COUNT(&pin->task_mask) < 2)
		return; /* it shares its CPU already, or chose it */
	pin->cpu = sched_getcpu();
	if (pin->cpu < 0 || !CPU_ISSET(pin->cpu, &pin->task_mask))
		return;
	CPU_ZERO(&one);
	CPU_SET(pin->cpu, &one);
	engine_note_pin(t->engine, tid, pin->cpu, &pin->task_mask);
	if (sched_setaffinity(tid, sizeof(one), &one) < 0) {
		engine_note_pin(t->engine, 0, 0, NULL);
		return;
	}
	sched_setaffinity(0, sizeof(one), &one);
	pin->tid = tid;
	msg_debug(DBG_TRACER, 1, "%d and the tracer are on CPU %d", tid, pin->cpu);
}

void pin_undo(struct tracer *t)
{
	struct pin *pin = &t->pin;

	if (!pin->tid)
		return;
	if (is_ours(pin->tid, pin->cpu))
		sched_setaffinity(pin->tid, sizeof(pin->task_mask), &pin->task_mask);
	sched_setaffinity(0, sizeof(pin->own_mask), &pin->own_mask);
	engine_note_pin(t->engine, 0, 0, NULL);
	pin->tid = 0;
	pin->in_a_row = 0;
}

void pin_hit(struct tracer *t, pid_t tid)
{
	struct pin *pin = &t->pin;

	if (tid != pin->last) {
		pin->last = tid;
		pin->in_a_row = 0;
		/* One hit of another is no second busy task; the next of it in a moment is. */
		if (pin->tid && ++pin->others >= 8)
			pin_undo(t);
		return;
	}
	if (pin->in_a_row < ALONE) {
		if (++pin->in_a_row == ALONE) {
			pin->others = 0;
			if (!pin->tid)
				pin_to_own_cpu(t, tid);
		}
	}
}

void pin_born(struct tracer *t, pid_t child)
{
	if (t->pin.tid && child != t->pin.tid && is_ours(child, t->pin.cpu))
		sched_setaffinity(child, sizeof(t->pin.task_mask), &t->pin.task_mask);
}

void pin_gone(struct tracer *t, pid_t tid)
{
	if (t->pin.tid == tid)
		pin_undo(t);
}
