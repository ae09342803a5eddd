/* What processes have lost that go on: when they are let go of or paused, or when somebody asks. */
#include "config.h"
#include "tracer/endings.h"
#include "tracer/look.h"
#include "tracer/lost.h"
#include "base/msg.h"
#include "record/run.h"
#include "scan/ending.h"

static bool has_trace(const struct process *p)
{
	return p->trace->writer && !p->trace->broken;
}

/* What a look is for. */
struct aim {
	bool spares_sleepers, is_for_blocks;
	bool (*is_wanted)(const struct process *p);
	uint64_t (*limit)(const struct process *p); /* in bytes; NULL none */
	void (*put)(struct trace *trace, struct ending *ending, const char *reason);
};

static const struct aim aim_lost = {false, false, has_trace, NULL, lost_put};
static const struct aim aim_figures = {true, true, lost_figures_are_wanted, lost_figures_limit, lost_put_figures};

/* The allocator's figures are those of the copy, whatever comes after it; what is lost is said of the blocks that the
 * ledger has, which must be those of that moment. */
static void copied(struct process *p)
{
	(void)p;
}

static bool look_at(struct process *p, const struct aim *aim)
{
	const struct look_wish wish = {
		.is_wanted = aim->is_wanted,
		.copied = aim->is_for_blocks ? copied : NULL,
		/* With -L not all functions are planted. */
		.spares_sleepers = aim->spares_sleepers && !p->tracer->set->library_count,
		.is_for_blocks = aim->is_for_blocks,
		.limit = aim->limit ? aim->limit(p) : 0,
	};
	const struct look look = look_through(p, &wish);

	if (look.ending && p->tasks) {
		aim->put(p->trace, look.ending, look.reason);
		/* A thread that has come to a hit since waits for all of that. */
		const uint64_t waited = look.held_since ? clock_ns(CLOCK_MONOTONIC) - look.held_since : 0;

		if (look.stood_ns)
			msg_info("process %d stood for %.1f ms, in which its memory was copied", p->pid,
				 (double)(waited > look.stood_ns ? waited : look.stood_ns) / 1e6);
	}
	ending_free(look.ending);
	return look.goes_on;
}

/* Where all of its tasks have come to their ends the trace has all of it (endings.c). */
static bool goes_on(const struct process *p)
{
	FOR_EACH_TASK(task, p)
		if (!task->exiting)
			return true;
	return false;
}

static bool look_at_all(struct tracer *t, const struct aim *aim)
{
	struct process *p;
	bool is_any_left = true;

	endings_finish_all(t);
	for (p = t->processes; p; p = p->next)
		p->life->is_looked_through = false;
	do {
		for (p = t->processes; p && (p->life->is_looked_through || !goes_on(p) || !aim->is_wanted(p));
		     p = p->next)
			;
		if (!p)
			break;
		p->life->is_looked_through = true;
		process_ref(p);
		is_any_left = look_at(p, aim);
		process_unref(p, NULL);
	} while (is_any_left);
	endings_finish_all(t);
	return is_any_left;
}

bool lost_now(struct tracer *t)
{
	return look_at_all(t, &aim_lost);
}

bool lost_at_detach(struct tracer *t)
{
	return t->run->paused || look_at_all(t, t->set->scan.is_traced ? &aim_lost : &aim_figures);
}
