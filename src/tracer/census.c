/* The blocks that a process had before its trace began.
 *
 * Everything is planted when its tasks stand and its memory is copied, and no event comes between that and the
 * entries in the ledger (look.h). A block of the heap that the ledger does not know is one from before:
 *
 *	A: malloc carves p | all is planted | copy: p | A: malloc returns, unseen
 *	        its call was never seen, and this is the only place that says p is alive
 *	all is planted | A: free(p), its hit is not acted on yet | copy: p | A's hit: the release of p, which is known
 *	all is planted | A: free(p), written | copy: p, for A has not got further | A: free returns
 *	        p is not entered: the ledger keeps what is released while a census is pending
 *	all is planted | A: malloc carves p | copy: p | A: malloc returns p, written
 *	        p is entered, and the allocation takes its place, as of an id whose list was read while the program ran
 *	all is planted | A: realloc(p) = p, entered | copy: p | A: it returns: the release of p, known,
 *	        and an allocation
 *	A: free(p) | all is planted | copy: p | A: free returns, unseen
 *	        p would be alive for ever, or until its address is given out again: threads that stand in the C
 *	        library, and not at a hit of ours, run on before the copy is made, some times
 *	A: malloc takes p from its thread's cache | all is planted | copy: p is in no list any more
 *	        as the first: a chunk that is in a register is no free one
 *
 * A call that is in flight when all is planted, and carves its block behind the copy, is not seen by anybody.
 *
 *	all is planted | A: fork, the child has what the ledger has so far | copy of A's memory
 *	        the child's blocks from before are not known: it has a trace of its own, which takes no census */
#include "config.h"
#include "tracer/census.h"
#include "tracer/look.h"
#include "base/msg.h"
#include "heap/code.h"
#include "record/kinds.h"
#include "record/ledger.h"
#include "record/output.h"
#include "record/run.h"
#include "scan/ending.h"
#include "ptrace/hold.h"
#include "text/breakpoints.h"
#include "text/slots.h"

#define PART 1024 /* blocks that are written at a time */

static bool is_wanted(const struct process *p)
{
	return ledger_awaits_census(p->trace) && !p->leaving && p->trace->writer && !p->trace->broken;
}

/* A call that was made before all was planted may be in flight there, and have no event. */
static bool may_be_in_malloc(struct task *task)
{
	struct process *p = task->process;

	if (!task_has_memory(task) || !task->stopped || task->listening || task_slot(task) || task_regs(task) < 0 ||
	    hold_in_syscall(task, NULL))
		return false;
	const uint64_t pc = p->arch->pc(&task->regs);
	const struct breakpoint *const b = breakpoint_find(p, p->arch->breakpoint_address(pc));
	const struct object *const object = objects_find(&p->objects, pc);

	return !(b && b->inserted) && object && code_is_c_library(object->path);
}

static bool is_early(struct process *p)
{
	FOR_EACH_TASK(task, p)
		if (may_be_in_malloc(task))
			return true;
	return false;
}

static struct live_total enter_blocks(struct trace *trace, uint32_t resource, const struct heap *heap)
{
	struct live_total entered = {0};
	struct census_block part[PART];
	uint32_t in_part = 0;

	for (size_t i = 0, count = heap_count(heap); i < count; i++) {
		const struct heap_block block = heap_block(heap, i);

		if (!ledger_census(trace, resource, block.address, block.size))
			continue;
		part[in_part++] = (struct census_block){block.address, block.size};
		entered.older++;
		entered.older_bytes += block.size;
		if (in_part == PART) {
			output_census(trace, resource, part, in_part);
			in_part = 0;
		}
	}
	if (in_part)
		output_census(trace, resource, part, in_part);
	return entered;
}

static void report_census(const struct process *p, const struct look *look, const struct live_total *entered)
{
	char blocks[32], bytes[32];

	msg_info("process %d stood for %.1f ms: it has %s block%s with %s byte%s from before", p->pid,
		 (double)look->stood_ns / 1e6, number_grouped(entered->older, blocks), entered->older == 1 ? "" : "s",
		 number_grouped(entered->older_bytes, bytes), entered->older_bytes == 1 ? "" : "s");
}

static bool census_of(struct process *p)
{
	const struct settings *set = p->tracer->set;
	const struct look look = look_through(p, &(struct look_wish){.is_wanted = is_wanted,
								     .is_early = is_early,
								     .spares_sleepers = true,
								     .is_for_blocks = true});
	const struct heap *const heap = look.ending && !look.reason ? ending_heap(look.ending) : NULL;

	for (uint32_t id = 1; id < kinds_end(set); id++) {
		if (!kind_has_blocks(kind_of(set, id)))
			continue;
		if (heap && p->tasks) {
			const struct live_total entered = enter_blocks(p->trace, id, heap);

			report_census(p, &look, &entered);
		}
		ledger_end_census(p->trace, id, heap && p->tasks);
	}
	if (look.ending && look.reason)
		msg_info("process %d stood for %.1f ms, but the blocks that it has from before are not known: %s",
			 p->pid, (double)look.stood_ns / 1e6, look.reason);
	ending_free(look.ending);
	return look.goes_on;
}

static bool begin(struct tracer *t)
{
	bool has_any = false;

	/* With -L releases are not seen that other objects make. */
	if (!t->set->census || t->set->library_count)
		return false;
	for (uint32_t id = 1; id < kinds_end(t->set); id++) {
		if (!kind_has_blocks(kind_of(t->set, id)))
			continue;
		has_any = true;
		for (struct process *p = t->processes; p; p = p->next)
			if (p->life->planted)
				ledger_begin_census(p->trace, id);
	}
	return has_any;
}

bool census_take(struct tracer *t)
{
	struct process *p;
	bool goes_on = true;

	if (!begin(t))
		return true;
	for (p = t->processes; p; p = p->next)
		p->life->is_looked_through = false;
	while (goes_on) {
		for (p = t->processes; p && (p->life->is_looked_through || !is_wanted(p)); p = p->next)
			;
		if (!p)
			break;
		p->life->is_looked_through = true;
		process_ref(p);
		goes_on = census_of(p);
		process_unref(p, NULL);
	}
	return goes_on;
}
