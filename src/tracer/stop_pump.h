/* Takes stops from a source that the caller names, one by one, and dispatches them. The dispatcher has no other
 * caller.
 *
 * While a stop is being dispatched or filtered, the pump takes no other one. A pump that is called from there is
 * refused: the next stop stays with the kernel, or in the queue, until the first one is done. Otherwise tables would
 * change in the middle of a change:
 *
 *	100: hit, is being acted on | 101: ends | a pump inside that: 101 is freed, while it is in use */
#ifndef FT_TRACER_STOP_PUMP_H
#define FT_TRACER_STOP_PUMP_H

#include "ptrace/tracee.h"

struct stop_pump {
	/* Returns the next stop; STOP_NONE: there is none. */
	struct stop (*take)(struct tracer *t, void *context);
	/* Returns whether it has done all that is to be done about the stop, which is then not dispatched. May be
	 * NULL. */
	bool (*filter)(struct tracer *t, const struct stop *stop, void *context);
	void *context; /* of both */
};

/* Take all stops, by collect() or, without waiting, by collect_now(). */
extern const struct stop_pump pump_waits, pump_polls;

/* Takes one stop and acts on it; its task may be gone then. Returns STOP_NONE if there is none, or if the pump is
 * refused. */
struct stop pump_once(struct tracer *t, const struct stop_pump *pump);
/* Does the same until there is none, or until nothing is left to trace (false). */
bool pump_all(struct tracer *t, const struct stop_pump *pump);
/* Returns whether anything is left to trace. */
static inline bool pump_goes_on(const struct tracer *t)
{
	return t->tasks.count && !t->finished;
}

#endif
