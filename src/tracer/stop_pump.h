/* The one caller of the dispatcher of stops: takes stops from where the caller says, one by one, and dispatches them.
 *
 * While a stop is being dispatched, or filtered, the pump takes no other one. A pump that is called from there is
 * refused: the next stop stays with the kernel, or in the queue, until the first one is done with. Otherwise tables
 * would change in the middle of a change:
 *
 *	100: hit, is being acted on | 101: ends | a pump inside of that: 101 is freed, which is still in use */
#ifndef FT_TRACER_STOP_PUMP_H
#define FT_TRACER_STOP_PUMP_H

#include "ptrace/tracee.h"

struct stop_pump {
	/* The next stop; STOP_NONE: there is none. */
	struct stop (*take)(struct tracer *t, void *context);
	/* Whether it has done all that is to be done about the stop, which is not dispatched then; NULL: it has not. */
	bool (*filter)(struct tracer *t, const struct stop *stop, void *context);
	void *context; /* of both */
};

/* All stops, by collect() or, without waiting, by collect_now(). */
extern const struct stop_pump pump_waits, pump_polls;

/* Takes one stop and acts on it; its task may have gone then. STOP_NONE: there is none, or the pump is refused. */
struct stop pump_once(struct tracer *t, const struct stop_pump *pump);
/* Until there is none, or nothing is left to trace (false). */
bool pump_all(struct tracer *t, const struct stop_pump *pump);
/* Whether anything is left to trace. */
static inline bool pump_goes_on(const struct tracer *t)
{
	return t->tasks.count && !t->finished;
}

#endif
