/* Notices a tracer thread that does not answer: see shared_state.h. */
#include "config.h"
#include "engine/shared_state.h"
#include "base/background.h"
#include "base/msg.h"
#include "base/util.h"
#include "base/time_units.h"

#include <signal.h>

uint64_t unanswered_limit_ns = 60 * NS_PER_SECOND;

/* Returns true if a task is traced, or a breakpoint is in place. */
static bool is_any_target_held(const struct shared_state *shared)
{
	const unsigned tasks = atomic_load(&shared->journal_task_high), notes = atomic_load(&shared->note_high);

	for (unsigned i = 0; i < tasks; i++)
		if (atomic_load(&shared->journal_tasks[i].tid))
			return true;
	for (unsigned i = 0; i < notes; i++)
		if (atomic_load(&shared->notes[i].size))
			return true;
	return false;
}

void unanswered_check(const struct engine *engine, uint64_t *due_at)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!(atomic_load(&engine->requests) & REQUEST_LET_GO) || atomic_load(&engine->lets_go)) {
		*due_at = 0;
		return;
	}
	if (*due_at > now && !background_is_any())
		return;
	if (!*due_at || background_is_any() || !is_any_target_held(engine->shared)) {
		*due_at = now + unanswered_limit_ns;
		return;
	}
	msg_error("the tracing thread has not answered a request to detach for %.0f s, so functrace kills the tracing "
		  "process",
		  (double)unanswered_limit_ns / (double)NS_PER_SECOND);
	raise(SIGKILL);
}
