#include "config.h"
#include "tracer/stop_pump.h"
#include "tracer/dispatch.h"
#include "tracer/kernel_events.h"
#include "ptrace/collect.h"
#include "base/msg.h"

static struct stop take_waiting(struct tracer *t, void *context)
{
	(void)context;
	return collect(t);
}

static struct stop take_now(struct tracer *t, void *context)
{
	(void)context;
	return collect_now(t);
}

const struct stop_pump pump_waits = {.take = take_waiting}, pump_polls = {.take = take_now};

struct stop pump_once(struct tracer *t, const struct stop_pump *pump)
{
	if (t->is_dispatching) {
		msg_debug(DBG_PROCESS, 1, "a stop waits: another one is being acted on");
		return (struct stop){.kind = STOP_NONE};
	}
	const struct stop stop = pump->take(t, pump->context);

	if (stop.kind == STOP_NONE)
		return stop;
	t->is_dispatching = true;
	kernel_events_take(t);
	if (!pump->filter || !pump->filter(t, &stop, pump->context))
		dispatch_stop(t, &stop);
	t->is_dispatching = false;
	return stop;
}

bool pump_all(struct tracer *t, const struct stop_pump *pump)
{
	while (pump_once(t, pump).kind != STOP_NONE)
		if (!pump_goes_on(t))
			return false;
	return true;
}
