#include "config.h"
#include "calls/unseen_entries.h"
#include "calls/nesting.h"
#include "calls/probes/probes.h"
#include "ptrace/tasks.h"

/* If a thread is inside operator new when functrace attaches, its call of malloc looks like a call by the program. The
 * release by operator delete would then look like a release by the wrong family of functions:
 *
 *	A: operator new, entered | breakpoints inserted | A: malloc, seen | A: operator new returns, unseen | A: delete
 *
 * The stack shows the outer function. If a task's stack shows no outer function, the task is in no call whose entry was
 * missed, and never will be. */

void unseen_begin(struct process *p)
{
	FOR_EACH_TASK(task, p)
		task_calls(task)->may_be_inside = true;
}

static bool is_in_flight(struct task *task, const struct probe *probe)
{
	for (const struct call *call = task_newest_call(task); call; call = call->next)
		if (call->probe == probe)
			return true;
	return false;
}

static bool shows_unseen(struct task *task, const struct probe *probe, const struct event *e)
{
	for (size_t i = 0; i < e->frame_count && i < FOLD_FRAMES; i++) {
		const struct probe *const outer = probe_around(task->process, e->frames[i].pc, probe);

		if (outer && probe_same_kind(outer, probe) && !is_in_flight(task, outer))
			return true;
	}
	return false;
}

bool unseen_may_contain(struct task *task, const struct probe *probe, const struct event *e)
{
	struct task_calls *const own = task_calls(task);

	if (!own->may_be_inside)
		return false;
	own->may_be_inside = shows_unseen(task, probe, e);
	/* An incomplete stack of fewer than FOLD_FRAMES frames may lack the outer function's frame. Then this
	 * allocation may be a part of a call whose entry was not seen. The task's next call is assumed to be the
	 * program's own. */
	return own->may_be_inside || (!(e->has_frames && e->end == STACK_WHOLE) && e->frame_count < FOLD_FRAMES);
}
