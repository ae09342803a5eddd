/* Takes stops, one by one, from a source that the caller names, and dispatches them. Only the pump calls the
 * dispatcher.
 *
 * While a stop is being dispatched or filtered, the pump takes no other one: if the dispatcher or a filter calls the
 * pump, the pump returns STOP_NONE, and the next stop stays in the kernel, or in the queue, until the first one is
 * done. Otherwise acting on one stop could free data that is in use for another:
 *
 *	100: hit, is being acted on | 101: ends | a pump inside that: 101 is freed, while it is in use */
#ifndef FT_TRACER_STOP_PUMP_H
#define FT_TRACER_STOP_PUMP_H

#include "ptrace/tracee.h"

struct stop_pump {
	/* Returns the next stop; STOP_NONE: there is none. */
	struct stop (*take)(struct tracer *t, void *context);
	/* Returns true if the filter has completely handled the stop, which is then not dispatched. May be NULL. */
	bool (*filter)(struct tracer *t, const struct stop *stop, void *context);
	void *context; /* passed to both functions */
};

/* These take all stops, by collect() or, without waiting, by collect_now(). */
extern const struct stop_pump pump_waits, pump_polls;

/* Takes one stop and acts on it, which may free the stop's task. Returns STOP_NONE if there is no stop, or if the pump
 * is called while another stop is dispatched or filtered. */
struct stop pump_once(struct tracer *t, const struct stop_pump *pump);
/* Does the same as pump_once() until there is no stop; returns false if nothing is left to trace. */
bool pump_all(struct tracer *t, const struct stop_pump *pump);
/* Returns true if anything is left to trace. */
static inline bool pump_goes_on(const struct tracer *t)
{
	return t->tasks.count && !t->finished;
}

#endif
