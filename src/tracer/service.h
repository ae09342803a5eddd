/* Acts on the stops of tasks while the tracer does other work, because a task stays stopped until the tracer acts on
 * its stop.
 *
 *	process P: all stopped, its memory is copied by another thread | others: hits, acted on at once */
#ifndef FT_TRACER_SERVICE_H
#define FT_TRACER_SERVICE_H

#include "ptrace/tracee.h"

struct background;

/* Acts on the stops of all tasks except those of one process. */
struct service {
	struct tracer *t;
	const struct process *held; /* the process whose stops are queued instead; NULL: none */
	const struct process *from; /* the process whose task had the latest stop; NULL: unknown */
	bool was_last;              /* when the latest stop was acted on, no other was queued */
	uint64_t held_since;        /* CLOCK_MONOTONIC time from which a task of `held` may be stopped; 0: none is */
	uint64_t looked_ns;         /* the latest time at which the tracer checked for stops, or knew that none was
				     * present */
	uint64_t longest_ns;        /* the longest time for which a stop may have waited for the tracer */
	uint64_t turned_ns;         /* end of the latest service_turn() or service_during() */
};

/* Begins the service, with `held` NULL. Nothing has to be freed. */
struct service service_begin(struct tracer *t);
/* Keeps looked_ns up to date while the tracer reads files, until service_unwatch(). So a task that stops at the end of
 * a long read does not seem to have waited for all of it. The struct must not be moved. */
void service_watch(struct service *service);
void service_unwatch(void);
/* Returns the longest time, in ns, for which a stop that is present may have waited; 0 if no stop is present. Does not
 * collect the stop. */
uint64_t service_waited(const struct service *service);
/* From now on queues the stops of p's tasks instead of acting on them. */
void service_hold(struct service *service, const struct process *p);
/* Called when the tasks of the held process are about to be stopped. Sets held_since to the current time, unless a
 * queued stop of one of these tasks has already set it. */
void service_count_hold(struct service *service);
/* Ends service_hold(), and acts on the queued stops. Returns the time, in ns, for which a task of the held process
 * could not run. */
uint64_t service_release(struct service *service);
/* Called between two steps of the tracer's own work. Acts on stops while there are any, but at most for the time that
 * the work has taken since the last turn, or for least_ns if that is longer. So a task that makes many calls gets half
 * of the tracer's time, not one call per step. Busy tasks that always have a stop pending get no more than half,
 * either. This function and those below return false if nothing is left to trace. */
bool service_turn(struct service *service, uint64_t least_ns);
/* Called after a pause of p. Acts on stops, for most_ns at most, until p's tasks make no traced calls for a while. The
 * tasks have then done the work that the pause delayed. *took_ns: the time until then; NEVER_SILENT: unknown, because
 * the tasks made traced calls all the time. */
#define NEVER_SILENT UINT64_MAX
bool service_catch_up(struct service *service, const struct process *p, uint64_t most_ns, uint64_t *took_ns);
/* Acts on stops for `ns` nanoseconds. */
bool service_for(struct service *service, uint64_t ns);
/* Acts on stops until a background thread has done `work`, or nothing is left to trace. Then waits for the end of
 * `work`, and frees it. */
bool service_during(struct service *service, struct background *work);

#endif
