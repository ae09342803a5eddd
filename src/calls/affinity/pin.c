#include "config.h"
#include "calls/affinity/pin.h"
#include "calls/calls.h"
#include "calls/affinity/pin_watch.h"
#include "record/run.h"
#include "ptrace/tasks.h"
#include "engine/cpus.h"
#include "base/msg.h"
#include "base/time_units.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Makes a single busy task and the tracer share one CPU. This halves the cost of a stop, because no other CPU has to be
 * woken up. --cpu=pin does so whenever only one task is busy; the program can see that. --cpu=auto does so only while
 * the program cannot see it:
 * - A task is pinned only if it is the only task of its process, and only while it is busy. No other task's
 *   mask is changed.
 * - While it is pinned, pin_watch.c watches the functions by which a program reads or sets its CPUs, or creates tasks
 *   that inherit them. The task's own mask is restored before such a call continues.
 * - The mask is also restored before a fork or an exec that was made in another way continues, and after each dlopen
 *   (constructors of libraries read /proc).
 * When the task is busy again, it is pinned again. If the last pinning was too short to be worth it, the task has to
 * make twice as many successive hits first.
 *
 * The masks of the task and the tracer are restored when a second task is busy, and when tracing ends. If the engine is
 * killed, the guardian restores the task's mask (guardian_journal.c). */

#define ALONE      256 /* successive hits of one task after which it is pinned */
#define ALONE_MOST (1u << 14)
#define HIT_NS     400000u /* a busy task has, on average, at least one hit in this time */
#define WORTH      8       /* a pinning was worth it if it lasted for WORTH * hits_needed() hits or longer */
#define OTHERS     8       /* hits of other tasks during a pinning after which a second task counts as busy */
#define LOOK       1024    /* number of hits between two checks whether other programs want the CPU */
#define LOOK_MOST  (1u << 16)
#define CROWDED    8    /* other programs want the CPU if the tracer has waited for it for over 1/CROWDED of the time */
#define IDLE_HITS  1000 /* a task with fewer hits between two ticks is not busy */
#define TICK_NS    500000000u
/* for so long after unpinning, a child that the task created while it was pinned may still be reported to the tracer */
#define BIRTH_NS NS_PER_SECOND

struct pin {
	bool on;
	pid_t tid, tgid; /* the pinned task; kept after an undo while children of it may be reported; 0: none */
	int cpu;
	cpu_set_t task_mask, own_mask; /* the masks before they were changed */
	struct pin_watch watch;
	pid_t last; /* the task of the latest hit */
	/* in_a_row: successive hits of `last`; others: hits of other tasks while one is pinned */
	unsigned in_a_row, others;
	uint64_t row_began;
	/* while a task is pinned: number of hits; the number at which the next check is made; hits between two
	 * checks */
	uint64_t hits, next_look, look;
	/* time of the latest check, and the tracer's total wait for a CPU until then, both in ns */
	uint64_t looked_at, waited;
	uint64_t ticked_at, ticked_hits;
	uint64_t undone_at;
	int schedstat; /* file descriptor; 0: not opened yet */
};

static bool is_auto(const struct tracer *t)
{
	return t->set->cpu == CPU_AUTO;
}

/* Reads the time, in ns, that the tracer's thread has waited for a CPU while it was runnable. */
static bool measure_wait(struct pin *pin, uint64_t *ns)
{
	char text[96], *next;

	if (!pin->schedstat)
		pin->schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	const ssize_t size = pin->schedstat < 0 ? -1 : pread(pin->schedstat, text, sizeof(text) - 1, 0);

	if (size <= 0)
		return false;
	text[size] = '\0';
	/* A kernel that does not measure this time shows 0 in all fields. */
	if (!strtoull(text, &next, 10))
		return false;
	*ns = strtoull(next, NULL, 10);
	return true;
}

/* Returns the number of successive hits after which a task of the process is pinned. need_more() doubles this number if
 * pinning was not worth it. */
static unsigned hits_needed(const struct process *p)
{
	return p->calls->pin_needed ? p->calls->pin_needed : ALONE;
}

static void need_more(struct process *p)
{
	p->calls->pin_needed = hits_needed(p) < ALONE_MOST ? 2 * hits_needed(p) : ALONE_MOST;
}

static void pin_forget(struct pin *pin)
{
	pin->tid = pin->tgid = 0;
}

/* Reads both masks, and chooses the CPU for the task and the tracer. */
static bool pin_choose(struct pin *pin, pid_t tid)
{
	if (sched_getaffinity(tid, sizeof(pin->task_mask), &pin->task_mask) < 0 ||
	    sched_getaffinity(0, sizeof(pin->own_mask), &pin->own_mask) < 0 || CPU_COUNT(&pin->own_mask) < 2)
		return false;
	pin->cpu = sched_getcpu();
	/* If the task has chosen a single CPU, the tracer moves there. */
	for (int cpu = 0; CPU_COUNT(&pin->task_mask) == 1 && cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &pin->task_mask))
			pin->cpu = cpu;
	return pin->cpu >= 0 && CPU_ISSET(pin->cpu, &pin->task_mask) && CPU_ISSET(pin->cpu, &pin->own_mask);
}

/* Returns true if a task with enough successive hits is to be pinned. With --cpu=auto stores the time and the tracer's
 * total wait for a CPU until now, with which pin_look_around() compares later values. */
static bool decide_to_pin(struct tracer *t, const struct task *task)
{
	struct pin *pin = t->pin;

	if (process_is_leaving(t, task->process) || task->process->trace->broken || t->run->paused)
		return false;
	if (!is_auto(t))
		return true;
	if (task->process->task_count != 1)
		return false;
	pin->looked_at = clock_ns(CLOCK_MONOTONIC);
	return pin->looked_at - pin->row_began < (uint64_t)hits_needed(task->process) * HIT_NS &&
	       measure_wait(pin, &pin->waited);
}

static void pin_to_own_cpu(struct tracer *t, struct task *task)
{
	struct pin *pin = t->pin;

	pin_forget(pin);
	if (!decide_to_pin(t, task) || !pin_choose(pin, task->tid))
		return;
	if (is_auto(t) && !pin_watch(task->process, &pin->watch)) {
		need_more(task->process);
		return;
	}
	guard_note_pin(t->engine, task->tid, pin->cpu, &pin->task_mask);
	if (cpus_narrow(task->tid, pin->cpu) < 0) {
		guard_note_pin(t->engine, 0, 0, NULL);
		pin_unwatch(task->process, &pin->watch);
		need_more(task->process);
		return;
	}
	cpus_narrow(0, pin->cpu);
	pin->tid = task->tid;
	pin->tgid = task->tgid;
	pin->on = t->is_pinned = true;
	pin->hits = pin->ticked_hits = 0;
	pin->others = 0;
	pin->next_look = pin->look;
	pin->ticked_at = pin->looked_at;
	if (is_auto(t))
		engine_want_tick(t->engine);
	msg_debug(DBG_TRACER, 1, "thread %d and the tracer are on CPU %d", task->tid, pin->cpu);
}

static void unpin_task(struct tracer *t, const char *why)
{
	struct pin *pin = t->pin;
	const struct task *task = task_find(t, pin->tid);

	if (task && task->process)
		pin_unwatch(task->process, &pin->watch);
	const int error = cpus_put_back(pin->tid, pin->cpu, &pin->task_mask);

	if (error && error != -ESRCH)
		msg_warn("task %d stays on CPU %d, where functrace has put it: %s; 'taskset -p' changes that", pin->tid,
			 pin->cpu, strerror(-error));
	cpus_put_back(0, pin->cpu, &pin->own_mask);
	guard_note_pin(t->engine, 0, 0, NULL);
	pin->on = t->is_pinned = false;
	pin->in_a_row = 0;
	pin->undone_at = clock_ns(CLOCK_MONOTONIC);
	msg_debug(DBG_TRACER, 1, "thread %d and the tracer are no longer kept on one CPU: %s", pin->tid, why);
}

void pin_undo(struct tracer *t)
{
	if (t->pin->on)
		unpin_task(t, "tracing ends or pauses");
}

void pin_expose(struct tracer *t, const struct task *task, const char *why)
{
	struct pin *pin = t->pin;

	if (!pin->on || !is_auto(t) || task->tid != pin->tid)
		return;
	if (pin->hits < (uint64_t)hits_needed(task->process) * WORTH)
		need_more(task->process);
	else if (hits_needed(task->process) > ALONE)
		task->process->calls->pin_needed /= 2;
	unpin_task(t, why);
	pin_forget(pin); /* the task is stopped in a function that it called, so all its children were reported */
}

/* Undoes the pinning if other programs want the CPU, or if the task has got other CPUs. When the task is pinned again,
 * it gets the CPU on which the tracer runs by then, which may be less busy. If other programs wanted the CPU, the first
 * check of the next pinning comes after twice as many hits, because they may want the new CPU as well. */
static void pin_look_around(struct tracer *t)
{
	struct pin *pin = t->pin;
	const uint64_t before = pin->waited, since = pin->looked_at;

	pin->looked_at = clock_ns(CLOCK_MONOTONIC);
	if (!measure_wait(pin, &pin->waited) || (pin->waited - before) * CROWDED > pin->looked_at - since) {
		pin->look = pin->look < LOOK_MOST ? 2 * pin->look : LOOK_MOST;
		unpin_task(t, "others want the CPU");
		return;
	}
	if (!cpus_are_only(pin->tid, pin->cpu)) {
		unpin_task(t, "it has other CPUs");
		return;
	}
	pin->look = LOOK;
	pin->next_look = pin->hits + pin->look;
}

static void pinned_hit(struct tracer *t, pid_t tid)
{
	struct pin *pin = t->pin;

	if (tid != pin->tid) {
		/* `others` counts the hits of other tasks, because a few hits do not make another task busy. The count
		 * starts again when the pinned task has had ALONE successive hits. */
		if (++pin->others >= OTHERS)
			unpin_task(t, "another task is busy too");
		return;
	}
	if (pin->in_a_row == ALONE)
		pin->others = 0;
	if (++pin->hits >= pin->next_look && is_auto(t))
		pin_look_around(t);
}

void pin_hit(struct task *task)
{
	struct tracer *t = task->process->tracer;
	struct pin *pin = t->pin;

	if (task->tid != pin->last) {
		pin->last = task->tid;
		pin->in_a_row = 0;
	}
	if (!pin->in_a_row++ && is_auto(t))
		pin->row_began = clock_ns(CLOCK_MONOTONIC);
	if (pin->on) {
		pinned_hit(t, task->tid);
	} else if (pin->in_a_row >= hits_needed(task->process)) {
		pin->in_a_row = 0;
		pin_to_own_cpu(t, task);
	}
}

void pin_tick(struct tracer *t)
{
	struct pin *pin = t->pin;
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!pin->on || !is_auto(t))
		return;
	engine_want_tick(t->engine);
	if (now - pin->ticked_at < TICK_NS)
		return;
	if (pin->hits - pin->ticked_hits < IDLE_HITS)
		unpin_task(t, "it is not busy any more");
	pin->ticked_at = now;
	pin->ticked_hits = pin->hits;
}

/* Gives the child of a pinned task the CPUs that the task had before. The pinning may have been undone since the task
 * created the child:
 *
 *   parent: clone(), the child gets its mask |                             | the event
 *   tracer:                                  | a second task is busy: undo |           pin_birth()
 *
 * Then the child gets the parent's present CPUs, also if another task has been pinned since. If the parent has only one
 * CPU after the undo, the program has chosen this CPU, also for the child. */
void pin_birth(struct tracer *t, const struct task *maker, pid_t child)
{
	const struct pin *pin = t->pin;

	if (pin->on && maker->tid == pin->tid) {
		cpus_put_back(child, pin->cpu, &pin->task_mask);
		pin_expose(t, maker, "it has made another task");
	} else if (pin->tid) {
		cpus_inherit(child, maker->tid);
	}
}

void pin_orphan(struct tracer *t, pid_t child, pid_t maker)
{
	const struct pin *pin = t->pin;

	if (maker && maker == pin->tgid && (pin->on || clock_ns(CLOCK_MONOTONIC) - pin->undone_at < BIRTH_NS))
		cpus_put_back(child, pin->cpu, &pin->task_mask);
}

void pin_exec(struct tracer *t, pid_t former, pid_t tid)
{
	/* If a thread other than the leader has called execve, it now has the leader's tid. */
	if (t->pin->on && (former ? former : tid) == t->pin->tid) {
		t->pin->tid = tid;
		t->pin->watch.count = 0; /* the breakpoints are gone with the old memory */
		unpin_task(t, "it has executed another program");
		pin_forget(t->pin);
	}
}

void pin_gone(struct tracer *t, pid_t tid)
{
	if (t->pin->on && t->pin->tid == tid) {
		t->pin->watch.count = 0;
		unpin_task(t, "it has ended");
	}
}

struct pin *pin_new(void)
{
	struct pin *pin = xcalloc(1, sizeof(*pin));

	pin->look = LOOK;
	return pin;
}

void pin_free(struct pin *pin)
{
	if (pin->schedstat > 0)
		close(pin->schedstat);
	free(pin);
}

void pin_asked(struct task *task, const struct breakpoint *b)
{
	const char *const why = pin_watch_asks(task, b);

	if (why)
		pin_expose(task->process->tracer, task, why);
}
