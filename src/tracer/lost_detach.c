/* What processes have lost that go on: when they are let go of or paused, or when somebody asks. */
#include "config.h"
#include "tracer/look.h"
#include "tracer/lost.h"
#include "base/msg.h"
#include "record/run.h"
#include "scan/ending.h"

static bool has_trace(const struct process *p)
{
	return p->trace->writer && !p->trace->broken;
}

static bool look_for_lost(struct process *p)
{
	const struct look look = look_through(p, &(struct look_wish){.is_wanted = has_trace});

	if (look.ending && p->tasks) {
		msg_info("process %d stood for %.1f ms, in which its memory was copied", p->pid,
			 (double)look.stood_ns / 1e6);
		lost_put(p->trace, look.ending, look.reason);
	}
	ending_free(look.ending);
	return look.goes_on;
}

bool lost_now(struct tracer *t)
{
	struct process *p;
	bool goes_on = true;

	for (p = t->processes; p; p = p->next)
		p->life->is_looked_through = false;
	do {
		for (p = t->processes; p && (p->life->is_looked_through || !has_trace(p)); p = p->next)
			;
		if (!p)
			break;
		p->life->is_looked_through = true;
		process_ref(p);
		goes_on = look_for_lost(p);
		process_unref(p, NULL);
	} while (goes_on);
	return goes_on;
}

bool lost_at_detach(struct tracer *t)
{
	return !t->set->scan.is_traced || t->run->paused || lost_now(t);
}
