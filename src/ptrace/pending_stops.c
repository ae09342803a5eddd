/* Queues stops that are handled later: see pending_stops.h. */
#include "config.h"
#include "ptrace/pending_stops.h"
#include "ptrace/tasks.h"

#include <string.h>
#include <sys/wait.h>

void stops_forget(struct tracer *t, pid_t tid)
{
	struct stops *stops = &t->stops;

	for (size_t i = stops->head; i < stops->count; i++)
		if (stops->items[i].tid == tid)
			stops->items[i].tid = 0;
}

/* Removes the items without a tid: stops that were taken from the middle of the queue, or dropped. */
static void squeeze(struct stops *stops)
{
	size_t kept = 0;

	for (size_t i = stops->head; i < stops->count; i++)
		if (stops->items[i].tid)
			stops->items[kept++] = stops->items[i];
	stops->head = 0;
	stops->count = kept;
}

void stops_put_back(struct tracer *t, const struct stop *stop)
{
	struct stops *stops = &t->stops;

	/* An exec replaces the leader: stops that the old leader has reported do not belong to the thread that has
	 * taken its tid. */
	if (stop->kind == STOP_EXEC)
		stops_forget(t, stop->tid);
	if (stops->count == stops->capacity)
		squeeze(stops);
	ARRAY_GROW(stops->items, stops->capacity, stops->count);
	stops->items[stops->count++] = *stop;
}

void stops_keep(struct tracer *t, struct task *task, const struct stop *stop)
{
	stops_mark(task, stop);
	stops_put_back(t, stop);
}

bool stops_take_interrupt(struct tracer *t, struct stop *stop)
{
	struct stops *stops = &t->stops;

	for (size_t i = stops->head; i < stops->count; i++) {
		const struct task *task = stops->items[i].tid ? task_find(t, stops->items[i].tid) : NULL;

		if (!task || !task->stopped || !task->interrupted)
			continue;
		*stop = stop_decode(stops->items[i].tid, stops->items[i].status, task->phase);
		if (stop->kind != STOP_INTERRUPT)
			continue;
		stops->items[i].tid = 0;
		return true;
	}
	return false;
}

/* Decodes the stop anew for the task's present phase. Returns false if the stop no longer concerns the task: another
 * task's exec has ended the task since, or the task has left the stop by its own exec. */
static bool concerns_task(struct tracer *t, struct stop *stop)
{
	if (!stop->tid) /* taken out of order, or dropped */
		return false;
	const struct task *const task = task_find(t, stop->tid);

	*stop = stop_decode(stop->tid, stop->status, task ? task->phase : PHASE_UNKNOWN);
	/* A task that is no longer in the table stays in its exit stop until the tracer resumes it. It must be resumed,
	 * because another thread's exec may wait until it has ended. */
	if (!task)
		return stop->kind == STOP_EXIT;
	return task->stopped || !WIFSTOPPED(stop->status);
}

bool stops_take_but(struct tracer *t, const struct process *p, struct stop *stop)
{
	struct stops *stops = &t->stops;

	for (size_t i = stops->head; p && i < stops->count; i++) {
		const struct task *const task = stops->items[i].tid ? task_find(t, stops->items[i].tid) : NULL;

		if (!task || task->process == p)
			continue;
		*stop = stops->items[i];
		stops->items[i].tid = 0;
		if (concerns_task(t, stop))
			return true;
	}
	return !p && stops_take(t, stop);
}

bool stops_take_slow(struct tracer *t, struct stop *stop)
{
	struct stops *stops = &t->stops;

	while (stops->head < stops->count) {
		*stop = stops->items[stops->head++];
		if (concerns_task(t, stop))
			return true;
	}
	stops->head = stops->count = 0;
	return false;
}
