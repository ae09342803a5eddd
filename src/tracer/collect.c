#include "config.h"
#include "tracer/stop.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

static enum task_phase phase_of(struct tracer *t, pid_t tid)
{
	const struct task *task = task_find(t, tid);

	return task ? task->phase : PHASE_UNKNOWN;
}

void collect_later(struct tracer *t, const struct stop *stop)
{
	if (t->queue_head && t->queue_count == t->queue_capacity) {
		memmove(t->queue, t->queue + t->queue_head,
			(t->queue_count - t->queue_head) * sizeof(*t->queue));
		t->queue_count -= t->queue_head;
		t->queue_head = 0;
	}
	ARRAY_GROW(t->queue, t->queue_capacity, t->queue_count);
	t->queue[t->queue_count++] = *stop;
}

static bool from_queue(struct tracer *t, struct stop *stop)
{
	if (t->queue_head == t->queue_count) {
		t->queue_head = t->queue_count = 0;
		return false;
	}
	*stop = t->queue[t->queue_head++];
	/* What has become of the task meanwhile decides. */
	*stop = stop_decode(stop->tid, stop->status, phase_of(t, stop->tid));
	return true;
}

static struct stop wait_for(struct tracer *t, int flags)
{
	struct stop none = {.kind = STOP_NONE};
	int status;

	for (;;) {
		const pid_t tid = wait4(-1, &status, __WALL | flags, NULL);

		if (tid > 0) {
			struct task *task = task_find(t, tid);

			if (task) {
				task->stopped = WIFSTOPPED(status);
				task->listening = false;
				task->regs_known = false;
			}
			return stop_decode(tid, status, task ? task->phase : PHASE_UNKNOWN);
		}
		if (tid < 0 && errno == EINTR)
			continue;
		return none;
	}
}

struct stop collect(struct tracer *t)
{
	struct stop stop;

	if (from_queue(t, &stop))
		return stop;
	return wait_for(t, 0);
}

struct stop collect_now(struct tracer *t)
{
	struct stop stop;

	if (from_queue(t, &stop))
		return stop;
	return wait_for(t, WNOHANG);
}
