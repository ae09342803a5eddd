/* Acts on the stops of tasks while other work goes on, because a process stays stopped as long as its hits are not
 * acted on.
 *
 *	process P: all stopped, its memory is copied by another thread | others: hits, acted on at once */
#ifndef FT_TRACER_SERVICE_H
#define FT_TRACER_SERVICE_H

#include "ptrace/tracee.h"

struct background;

/* Serves all tasks except those of one process. */
struct service {
	struct tracer *t;
	const struct process *held; /* the process whose stops are kept; NULL: none */
	const struct process *from; /* the process of the latest stop; NULL: unknown */
	bool was_last;              /* no other stop was queued after it */
	uint64_t held_since;        /* when the first task of `held` stopped and its stop was kept; 0: none was */
	uint64_t looked_ns;         /* when stops were last looked for, or no task waited */
	uint64_t longest_ns;        /* the longest time for which a stop may have waited */
	uint64_t turned_ns;         /* when the last turn was over: service_turn() */
};

/* Begins the service, with no process held. Nothing has to be freed. */
struct service service_begin(struct tracer *t);
/* Until service_unwatch(), while the tracer reads files, sets looked_ns to the latest time at which no task waited: a
 * task that stops after a long read has not waited for it. The struct must stay where it is. */
void service_watch(struct service *service);
void service_unwatch(void);
/* Returns for how many ns a task has waited at most; 0 if none waits. Does not take its stop. */
uint64_t service_waited(const struct service *service);
/* Keeps the stops of p's tasks from now on, instead of acting on them. */
void service_hold(struct service *service, const struct process *p);
/* Counts the time of the hold from here, because the tasks of the held process are being stopped. */
void service_count_hold(struct service *service);
/* Acts on the stops that were kept. Returns for how long, in ns, a task of the held process could not run. */
uint64_t service_release(struct service *service);
/* Called between two parts of the tracer's own work: acts on stops while there are any, but at most for the time that
 * the work has taken since the last turn, or for least_ns if that is longer. So a task that makes many calls has half
 * of the tracer's time, not one call per part. Many busy tasks, which always have a stop pending, have no more. This
 * function and those below return false if nothing is left to trace. */
bool service_turn(struct service *service, uint64_t least_ns);
/* Called after a pause of p: acts, for most_ns at most, until its tasks are silent. The work that had to wait for the
 * pause is done by then. *took_ns: how long that took; NEVER_SILENT: unknown, because they made traced calls all the
 * time. */
#define NEVER_SILENT UINT64_MAX
bool service_catch_up(struct service *service, const struct process *p, uint64_t most_ns, uint64_t *took_ns);
/* Acts on stops for this time. */
bool service_for(struct service *service, uint64_t ns);
/* Acts on stops until the work is done. Waits for the work and ends it in any case. */
bool service_during(struct service *service, struct background *work);

#endif
