#include "config.h"
#include "tracer/seize_stops.h"
#include "tracer/act.h"
#include "tracer/life.h"
#include "ptrace/collect.h"
#include "ptrace/stops.h"
#include "ptrace/tasks.h"

void seize_put_off(struct tracer *t, pid_t tid, int status)
{
	struct task *task = task_find(t, tid);
	const struct stop stop = stop_decode(tid, status, task ? task->phase : PHASE_UNKNOWN);

	if (stop.kind == STOP_EXIT || stop.kind == STOP_INTERRUPT || (!task && stop.kind != STOP_EXEC)) {
		if (task)
			stops_mark(task, &stop);
		act(t, &stop);
		return;
	}
	/* The exec of a thread whose leader is not known yet. */
	if (!task)
		task = task_begin(t, tid, tid, NULL, PHASE_LIVE);
	stops_keep(t, task, &stop);
}

/* Holds back what that task has reported, if it is one of these. */
static bool hold_back(struct withheld *list, const struct stop *stop)
{
	for (size_t i = 0; list && i < WITHHELD; i++)
		if (list[i].tid == stop->tid) {
			list[i].exiting = stop->kind == STOP_EXIT;
			list[i].reported = !list[i].exiting;
			list[i].status = stop->status;
			return list[i].reported;
		}
	return false;
}

void seize_take_stops(struct tracer *t, struct withheld *list)
{
	for (;;) {
		const struct stop stop = collect_fresh(t);

		if (stop.kind == STOP_NONE)
			return;
		if (!hold_back(list, &stop))
			seize_put_off(t, stop.tid, stop.status);
	}
}
