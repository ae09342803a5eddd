#include "config.h"
#include "tracer/watching.h"
#include "tracer/watching_parts.h"
#include "tracer/watching_state.h"
#include "tracer/process_start.h"
#include "engine/engine.h"
#include "proc/proc.h"
#include "record/run.h"
#include "watch/interval.h"
#include "watch/pace.h"
#include "base/msg.h"
#include "base/time_units.h"
#include "base/util.h"

#include <stdlib.h>
#include <unistd.h>

#define PERIOD_NS (10 * NS_PER_SECOND) /* windows are so short that the budget allows one in this time */
#define POLL_NS   50000000u            /* time between two looks whether a result is ready */
#define STEADY_NS (20 * NS_PER_SECOND) /* time after which the cost of the beginning is paid back */
#define LOOK_PART 3                    /* looks and scans may take this part of the budget */

struct watcher {
	struct watching *first;
	void *outputs;
	bool is_stopped;
};

/* Lengths of windows. Shorter ones would see too many blocks that are just in use. */
static const uint64_t windows_ns[] = {100000000, 300000000, NS_PER_SECOND};

static double random_share(struct watching *one)
{
	/* Marsaglia's xorshift64 */
	one->random ^= one->random << 13;
	one->random ^= one->random >> 7;
	one->random ^= one->random << 17;
	return (double)(one->random >> 11) / (double)(UINT64_C(1) << 53);
}

/* Called when the process has ended, executes another program, or is no longer traced. What was learnt in the last
 * interval is not lost. */
static void watching_target_ended(struct call_sink *sink, const char *how)
{
	struct watching *const one = (struct watching *)sink;

	if (one->windows)
		watching_result_begin(one, one->p->tracer->watcher->outputs, true, how);
	watching_state_remove_old(one);
	one->p = NULL;
}

static struct watching *watching_new(struct process *p)
{
	struct watching *const one = xcalloc(1, sizeof(*one));
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	one->p = p;
	one->sink = (struct call_sink){watching_take_call, watching_target_ended};
	p->trace->sink = &one->sink;
	one->process_start = proc_start_time(p->pid);
	one->image = watching_state_image(p->pid);
	one->sharers = 1;
	one->began = now;
	one->began_wall = one->result_wall = clock_ns(CLOCK_REALTIME);
	one->random = now ^ (uint64_t)p->pid << 32 ^ 0x9e3779b97f4a7c15;
	const struct watch_options options = {.samples_max = WATCH_SAMPLES_MAX, .seed = one->random};

	one->watch = watch_new(&options, now);
	one->stacks = watching_stacks_new();
	one->spent.own_before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	one->heap.lost = WATCH_UNKNOWN;
	one->window_ns = windows_ns[1];
	one->look_at = one->window_at = one->period_at = now;
	one->interval_ns = p->tracer->set->watch.interval_ns;
	one->result_at = now + one->interval_ns;
	watching_state_take(one, &options);
	one->recent = watch_recent_new(one->random, now, watching_work(one));
	return one;
}

static void watching_free(struct watching *one)
{
	watch_free(one->watch);
	watch_recent_free(one->recent);
	watching_stacks_free(one->stacks);
	watching_heap_free(&one->heap);
	free(one);
}

/* ---- What is due ---- */

/* Chooses the length of the next window. period: the time for which a window of the present length pays. */
static void choose_length(struct watching *one, double period)
{
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(windows_ns) &&
	       period * (double)windows_ns[i + 1] / (double)one->window_ns < (double)PERIOD_NS)
		i++;
	one->window_ns = windows_ns[i];
}

/* Plans the next window. Its period is so long that the cost of a cycle, with that of looks and results, is within the
 * budget. */
static void plan_window(struct watching *one, uint64_t now)
{
	const double budget = one->p->tracer->set->watch.budget;
	const double spent = (double)watching_spent_ns(one), elapsed = (double)(now - one->began + STEADY_NS);
	const double cycle = spent - (double)one->spent_before, over = spent / (budget * elapsed);
	double period;

	one->spent_before = (uint64_t)spent;
	one->cycle_cost = one->windows < 2 ? cycle : one->cycle_cost * 0.7 + cycle * 0.3;
	period = one->cycle_cost / budget * (over > 1 ? over : 1);
	choose_length(one, period);
	if (period < 2.0 * (double)one->window_ns)
		period = 2.0 * (double)one->window_ns;
	if (one->period_at < now)
		one->period_at = now;
	/* A window may end in the next period. If none did, the ends of periods would be in few windows. */
	one->window_at = one->period_at + (uint64_t)(random_share(one) * period);
	one->period_at += (uint64_t)period;
}

static void say_cost(const struct watching *one, const char *what, uint64_t own)
{
	msg_debug(DBG_BREAKPOINT, 1, "watch of %d: %s took %.2f ms of CPU time", one->p ? one->p->pid : 0, what,
		  (double)(watching_own_ns(one) - own) / 1e6);
}

static void end_window(struct watching *one)
{
	const uint64_t own = watching_own_ns(one);

	watching_close_window(one);
	say_cost(one, "closing a window", own);
	plan_window(one, clock_ns(CLOCK_MONOTONIC));
}

/* Plans the next look. All looks have the same distance, as the estimate wants it, unless they cost too much. */
static void plan_look(struct watching *one, uint64_t now)
{
	const double most = one->p->tracer->set->watch.budget / LOOK_PART;
	uint64_t distance = (uint64_t)((double)one->heap.cost_ns / most);

	if (distance < WATCHING_LOOK_LEAST_NS)
		distance = WATCHING_LOOK_LEAST_NS;
	one->look_at += distance;
	if (one->look_at < now)
		one->look_at = now + distance;
}

/* Plans the next look that also finds lost blocks. */
static void plan_scan(struct watching *one, uint64_t now)
{
	const double most = one->p->tracer->set->watch.budget / LOOK_PART;

	one->scan_at = now + pace_scan_wait(one->heap.scan_cost_ns, most, one->interval_ns);
}

/* Does what is due for one process. Returns false if nothing is left to trace. */
static bool watch_on(struct watcher *watcher, struct watching *one)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC), own = watching_own_ns(one);

	if (one->result && !watching_result_take(one))
		return true;
	if (one->is_open) {
		if (now >= one->window_end)
			end_window(one);
		return true;
	}
	if (now >= one->look_at) {
		const bool is_scan = now >= one->scan_at;
		const bool goes_on = watching_look(one, is_scan);

		say_cost(one, is_scan ? "a scan" : "a look", own);
		if (is_scan && one->p)
			plan_scan(one, now);
		if (goes_on && one->p)
			plan_look(one, clock_ns(CLOCK_MONOTONIC));
		return goes_on;
	}
	if (now >= one->result_at) {
		one->result_at += one->interval_ns;
		watching_result_begin(one, watcher->outputs, false, NULL);
	} else if (now >= one->window_at) {
		watching_open_window(one);
		/* The process may be in an execve, or its files cannot be read now. */
		if (one->p && !one->is_open)
			one->window_at = now + NS_PER_SECOND;
		say_cost(one, "opening a window", own);
	}
	return true;
}

static uint64_t due_at(const struct watching *one)
{
	if (one->result)
		return clock_ns(CLOCK_MONOTONIC) + POLL_NS;
	if (one->is_open)
		return one->window_end;
	const uint64_t other = one->look_at < one->result_at ? one->look_at : one->result_at;

	return one->window_at < other ? one->window_at : other;
}

/* Frees the watches of processes that have ended, or executed another program, when their results are delivered. */
static void free_ended(struct watcher *watcher)
{
	for (struct watching **link = &watcher->first; *link;) {
		struct watching *const one = *link;

		if (one->p || !watching_result_take(one)) {
			link = &one->next;
			continue;
		}
		*link = one->next;
		watching_free(one);
	}
}

static struct watching *watching_of(const struct process *p)
{
	struct watching *one = p->tracer->watcher ? p->tracer->watcher->first : NULL;

	while (one && one->p != p)
		one = one->next;
	return one;
}

/* Returns true if the user has named the process. It may have executed another program since. */
static bool is_named(const struct process *p)
{
	const struct target_settings *const target = &p->tracer->set->target;

	for (size_t i = 0; i < target->pid_count; i++)
		if (target->pids[i] == p->pid)
			return true;
	return p->trace->origin.attached_to;
}

/* Begins to watch the processes that are not watched yet: at the beginning, and after an execve. */
static void begin_new(struct tracer *t)
{
	for (struct process *p = t->processes; p; p = p->next) {
		if (watching_of(p) || p->leaving || p->trace->broken || !p->tasks || !is_named(p))
			continue;
		struct watching *const one = watching_new(p);

		one->next = t->watcher->first;
		t->watcher->first = one;
	}
}

/* Divides the CPU time that functrace takes from now on among the watches. */
static void share_costs(const struct watcher *watcher)
{
	unsigned count = 0;

	for (const struct watching *one = watcher->first; one; one = one->next)
		count += one->p != NULL;
	for (struct watching *one = watcher->first; one; one = one->next) {
		if (one->sharers == count || !count)
			continue;
		one->spent.own_saved = watching_own_ns(one);
		one->spent.own_before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		one->sharers = count;
	}
}

bool watching_alarm(struct tracer *t)
{
	struct watcher *const watcher = t->watcher;
	uint64_t next = clock_ns(CLOCK_MONOTONIC) + NS_PER_SECOND;
	bool goes_on = true;

	if (!watcher || watcher->is_stopped)
		return true;
	begin_new(t);
	share_costs(watcher);
	for (struct watching *one = watcher->first; one && goes_on; one = one->next)
		if (one->p)
			goes_on = watch_on(watcher, one);
	free_ended(watcher);
	for (const struct watching *one = watcher->first; one; one = one->next)
		if (one->p && due_at(one) < next)
			next = due_at(one);
	engine_set_alarm(t->engine, next);
	return goes_on;
}

bool watching_begin(struct tracer *t)
{
	const struct watch_outputs *const outputs = t->set->watch.outputs;

	t->watcher = xcalloc(1, sizeof(*t->watcher));
	if (outputs) {
		t->watcher->outputs = outputs->open(t->set);
		if (!t->watcher->outputs)
			return false;
	}
	engine_set_alarm(t->engine, clock_ns(CLOCK_MONOTONIC));
	return true;
}

void watching_stop(struct tracer *t)
{
	struct watcher *const watcher = t->watcher;

	if (!watcher || watcher->is_stopped)
		return;
	watcher->is_stopped = true;
	for (struct watching *one = watcher->first; one; one = one->next) {
		if (!one->p || !watching_result_take(one))
			continue;
		if (one->is_open)
			watching_close_window(one);
		watching_result_begin(one, watcher->outputs, true, NULL);
	}
}

void watching_end(struct tracer *t)
{
	struct watcher *const watcher = t->watcher;

	if (!watcher)
		return;
	for (struct watching *one = watcher->first; one; one = one->next) {
		while (!watching_result_take(one))
			usleep(1000);
		if (one->p)
			one->p->trace->sink = NULL;
	}
	while (watcher->first) {
		struct watching *const one = watcher->first;

		watcher->first = one->next;
		watching_free(one);
	}
	if (watcher->outputs)
		t->set->watch.outputs->close(watcher->outputs);
	free(watcher);
	t->watcher = NULL;
}
