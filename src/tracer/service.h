/* Acts on the stops of tasks while other work goes on: a process stays stopped for as long as its hits are left alone.
 *
 *	process P: all stopped, its memory is copied by another thread | others: hits, acted on at once */
#ifndef FT_TRACER_SERVICE_H
#define FT_TRACER_SERVICE_H

#include "ptrace/tracee.h"

struct background;

/* The service of all tasks but those of one process. */
struct service {
	struct tracer *t;
	const struct process *held; /* what its tasks report is kept; NULL: none is held */
	const struct process *from; /* whose task has reported the latest stop; NULL: none's that is known */
	bool was_last;              /* no other stop was queued behind it */
	uint64_t held_since;        /* when the first of them stopped and was kept; 0: none was */
	uint64_t looked_ns;         /* when what tasks report was looked at last, or no task waited */
	uint64_t longest_ns;        /* for which a stop may have waited for that, at most */
	uint64_t turned_ns;         /* when the last turn was over, see service_turn() */
};

struct service service_begin(struct tracer *t);
/* While the tracer reads files from here on, `looked_ns` is the latest time at which no task waited for it: a task that
 * stops after a long read has not waited for it. Until service_unwatch(); the service stays where it is. */
void service_watch(struct service *service);
void service_unwatch(void);
/* For how many ns a task has waited by now at most; 0 if none waits. Its stop is not taken. */
uint64_t service_waited(const struct service *service);
/* From now on nothing is done about what the tasks of p report. */
void service_hold(struct service *service, const struct process *p);
/* The tasks of the held process are being stopped: the time counts from here. */
void service_count_hold(struct service *service);
/* Acts on what was kept. For how long, in ns, a task of the process that was held had been kept from running. */
uint64_t service_release(struct service *service);
/* Between two parts of the tracer's own work: acts on what is reported, and while tasks go on reporting for as long as
 * the work has taken since the last turn, or for least_ns if that is longer. A task that makes many calls has half of
 * the tracer's time so, not one call a part; many busy tasks, of which one has always reported something, have no
 * more. This one, and the others below: false: nothing is left to trace. */
bool service_turn(struct service *service, uint64_t least_ns);
/* After a pause of p: acts, for most_ns at most, until its tasks are silent. What had to wait for the pause has been
 * worked off by then. took_ns: how long that was; NEVER_SILENT: unknown, because they made traced calls all the
 * time. */
#define NEVER_SILENT UINT64_MAX
bool service_catch_up(struct service *service, const struct process *p, uint64_t most_ns, uint64_t *took_ns);
/* Acts for that long. */
bool service_for(struct service *service, uint64_t ns);
/* Acts until the work is done, which is waited for and ended in any case. */
bool service_during(struct service *service, struct background *work);

#endif
