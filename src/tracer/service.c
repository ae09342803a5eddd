#include "config.h"
#include "tracer/service.h"
#include "tracer/exit_captures.h"
#include "tracer/stop_pump.h"
#include "base/background.h"
#include "base/timed.h"
#include "ptrace/collect.h"
#include "ptrace/pending_stops.h"

#include <time.h>

#define AWAKE_NS 250000u /* for this time after a stop, the tracer polls for the next one without sleeping */
#define NAP_NS   20000
/* Tasks that have not stopped for this time count as silent. The time is long enough to wake a task on another CPU. */
#define SILENCE_NS 250000u

struct service service_begin(struct tracer *t)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	return (struct service){.t = t, .looked_ns = now, .turned_ns = now};
}

static void count_wait(struct service *service, uint64_t now, uint64_t since)
{
	service->longest_ns = now - since > service->longest_ns ? now - since : service->longest_ns;
}

static const struct process *reporter(struct tracer *t, const struct stop *stop)
{
	const struct task *const task = stop->kind == STOP_NONE ? NULL : task_find(t, stop->tid);

	return task ? task->process : NULL;
}

/* Returns a queued stop, or one that the kernel has; STOP_NONE if there is none. Queues stops of the held process. */
static struct stop next_stop(struct service *service)
{
	struct tracer *const t = service->t;
	struct stop stop;

	for (;;) {
		if (stops_take_but(t, service->held, &stop)) {
			count_wait(service, clock_ns(CLOCK_MONOTONIC), service->looked_ns);
			break;
		}
		/* Collects all stops, because the kernel reports the newest first: if many tasks are busy, some would
		 * never be served. */
		stop = collect_all(t);
		const uint64_t now = clock_ns(CLOCK_MONOTONIC), before = service->looked_ns;

		service->looked_ns = now;
		if (stop.kind == STOP_NONE)
			break;
		if (!service->held || reporter(t, &stop) != service->held) {
			/* Count no wait for an exit, because no task waits for the tracer after its exit. The exit may
			 * also be that of the child by which the engine wakes the tracer (engine.h). */
			if (stop.kind != STOP_GONE)
				count_wait(service, now, before);
			break;
		}
		if (!service->held_since)
			service->held_since = before;
		stops_put_back(t, &stop);
	}
	return stop;
}

static struct stop take_in_service(struct tracer *t, void *context)
{
	struct service *const service = context;
	const struct stop stop = next_stop(service);

	service->from = reporter(t, &stop);
	service->was_last = !stops_are_queued(t);
	return stop;
}

/* Acts on the next stop, whose task waits for the tracer. Returns false if there was none. */
static bool act_on_next(struct service *service)
{
	const struct stop stop =
		pump_once(service->t, &(struct stop_pump){.take = take_in_service, .context = service});

	if (stop.kind != STOP_NONE)
		count_wait(service, clock_ns(CLOCK_MONOTONIC), service->looked_ns);
	return stop.kind != STOP_NONE;
}

/* Sleeps for a moment, unless a stop is likely to come soon, so that a task that needs this CPU gets it. */
static void await_stop(const struct service *service, uint64_t last_stop)
{
	if (service->looked_ns - last_stop >= AWAKE_NS || !collect_may_poll(service->t))
		nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

/* Acts on stops until `end`, or until the tasks of p (NULL: all) are silent. *last_ns: the time from which the silence
 * is counted; each stop of these tasks sets it anew. Tasks do not count as silent while stops are queued, because one
 * of these may be p's. Returns false if nothing is left to trace. */
static bool act_until_silence(struct service *service, uint64_t end, const struct process *p, uint64_t *last_ns)
{
	struct tracer *const t = service->t;

	while (pump_goes_on(t) && clock_ns(CLOCK_MONOTONIC) < end) {
		const bool is_any = act_on_next(service);

		if (is_any && !pump_goes_on(t))
			return false;
		if (is_any && (!p || service->from == p))
			*last_ns = clock_ns(CLOCK_MONOTONIC);
		else if (service->was_last && service->looked_ns >= *last_ns + SILENCE_NS)
			break;
		else if (!is_any) {
			exit_captures_go_on(t);
			await_stop(service, *last_ns);
		}
	}
	return pump_goes_on(t);
}

bool service_turn(struct service *service, uint64_t least_ns)
{
	const uint64_t began = clock_ns(CLOCK_MONOTONIC), worked = began - service->turned_ns;
	uint64_t last_ns = 0; /* 0: if no stop comes, the turn ends at once */

	/* If many threads are busy, a stop is always pending. The turn ends when its time is over; the next turn acts
	 * on the stops that are still queued. */
	const bool is_any_left =
		act_until_silence(service, began + (worked > least_ns ? worked : least_ns), NULL, &last_ns);

	service->turned_ns = clock_ns(CLOCK_MONOTONIC);
	return is_any_left;
}

bool service_catch_up(struct service *service, const struct process *p, uint64_t most_ns, uint64_t *took_ns)
{
	const uint64_t began = clock_ns(CLOCK_MONOTONIC);
	uint64_t last_ns = began;
	const bool is_any_left = act_until_silence(service, began + most_ns, p, &last_ns);

	*took_ns = clock_ns(CLOCK_MONOTONIC) < began + most_ns ? last_ns - began : NEVER_SILENT;
	return is_any_left;
}

/* Acts on one stop, and sets *last_stop to its time. If there is no stop, continues exit captures, and sleeps for a
 * moment unless the latest stop was only just before. Returns false if nothing is left to trace. */
static bool service_serve(struct service *service, uint64_t *last_stop)
{
	if (act_on_next(service)) {
		*last_stop = service->looked_ns;
	} else {
		exit_captures_go_on(service->t);
		await_stop(service, *last_stop);
	}
	return pump_goes_on(service->t);
}

bool service_for(struct service *service, uint64_t ns)
{
	const uint64_t end = clock_ns(CLOCK_MONOTONIC) + ns;
	uint64_t last_stop = 0;

	while (clock_ns(CLOCK_MONOTONIC) < end)
		if (!service_serve(service, &last_stop))
			return false;
	return pump_goes_on(service->t);
}

bool service_during(struct service *service, struct background *work)
{
	bool is_any_left = pump_goes_on(service->t);
	uint64_t last_stop = 0;

	while (is_any_left && !background_is_done(work))
		is_any_left = service_serve(service, &last_stop);
	background_end(work);
	service->turned_ns = clock_ns(CLOCK_MONOTONIC);
	return is_any_left;
}

/* ---- How long tasks wait ----
 *
 *	look | reads a file that does not answer ... | inserts | T: hit | reads another file | look
 *	       no task waits: looked_ns is set anew                T waits from here */

static void service_look(void *context)
{
	struct service *const service = context;

	if (!collect_is_any(service->t))
		service->looked_ns = clock_ns(CLOCK_MONOTONIC);
}

void service_watch(struct service *service)
{
	timed_watch(service_look, service);
}

void service_unwatch(void)
{
	timed_watch(NULL, NULL);
}

uint64_t service_waited(const struct service *service)
{
	return collect_is_any(service->t) ? clock_ns(CLOCK_MONOTONIC) - service->looked_ns : 0;
}

/* ---- Holding ---- */

#define EVENTS_FEW (128u << 10) /* bytes of the kernel's records that are read in some 0.5 ms */

/* Reads the kernel's records until few are left, because no others are to be read while tasks are held. */
static void take_most_events(struct tracer *t)
{
	for (unsigned i = 0; t->take_events && t->take_events(t) > EVENTS_FEW && i < 16; i++)
		;
}

void service_hold(struct service *service, const struct process *p)
{
	take_most_events(service->t);
	service->held = p;
	service->held_since = 0;
}

void service_count_hold(struct service *service)
{
	if (!service->held_since)
		service->held_since = clock_ns(CLOCK_MONOTONIC);
}

static struct stop take_queued(struct tracer *t, void *context)
{
	struct stop stop;

	(void)context;
	return stops_take(t, &stop) ? stop : (struct stop){.kind = STOP_NONE};
}

uint64_t service_release(struct service *service)
{
	const uint64_t since = service->held_since;

	service->held = NULL;
	service->held_since = 0;
	pump_all(service->t, &(struct stop_pump){.take = take_queued});
	return since ? clock_ns(CLOCK_MONOTONIC) - since : 0;
}
