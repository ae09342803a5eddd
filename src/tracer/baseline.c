/* Finds the blocks that a process had before its trace began.
 *
 * functrace inserts the breakpoints of a process. Right after that it stops the tasks and copies the memory. The tasks'
 * stops are queued meanwhile. Then the tasks run on, and make calls while the copy is read. Their events are written
 * after the baseline, so that the trace contains a block before its release. A block of the heap that the ledger does
 * not contain is from before the trace. ("inserted" is the moment when all breakpoints are in place.)
 *
 *	A: malloc carves p | inserted | copy: p | A: malloc returns, unseen
 *	        The call was never seen; only the copy shows that p is live.
 *	inserted | A: free(p), its hit is not acted on yet | copy: p | A's hit: the release of p, which waits |
 *	        p is added, and then its release is written.
 *	inserted | A: free(p), written | copy: p, because A has not got further | A: free returns
 *	        p is not added: the ledger remembers releases while a baseline is pending.
 *	inserted | A: malloc carves p | copy: p | A: malloc returns p, written
 *	        p is added; then the allocation of p replaces it (live_add()).
 *	inserted | A: realloc(p), its entry | copy: p | A: realloc returns p, written
 *	        p is added; then the release of p, which is a known block now, and an allocation are written.
 *	A: free(p) | inserted | copy: p | A: free returns, unseen
 *	        p would be live for ever, or until its address is allocated again. So before the copy, functrace lets
 *	        threads run on, a few times, if they are stopped in the C library and not at a hit.
 *	A: malloc takes p from its thread's cache | inserted | copy: p is in no free list
 *	        As in the first case, only the copy shows p: a chunk whose address is in a register counts as allocated.
 *
 * A call that is in flight when all breakpoints are inserted, and carves its block after the copy, is never seen.
 *
 *	inserted | A: fork, the child's ledger is a copy of A's so far | copy of A's memory
 *	        The child's older blocks are unknown: it has a trace of its own, without a baseline. */
#include "config.h"
#include "tracer/baseline.h"
#include "tracer/traced_capture.h"
#include "tracer/service.h"
#include "tracer/process_start.h"
#include "engine/engine.h"
#include "heap/allocator_code.h"
#include "record/resource_ids.h"
#include "record/ledger.h"
#include "record/trace_output.h"
#include "record/put_records.h"
#include "record/run.h"
#include "scan/capture/heap_capture.h"
#include "ptrace/freeze_untraced.h"
#include "breakpoints/breakpoints.h"
#include "breakpoints/out_of_line_slots.h"
#include "base/background.h"

#define PART 256 /* number of blocks that are written at a time */

static bool baseline_is_pending(const struct process *p)
{
	return ledger_awaits_baseline(p->trace) && !p->leaving && p->trace->output.writer && !p->trace->broken;
}

/* Returns true if the task may be inside malloc, in a call that began before the breakpoints were inserted and thus has
 * no event. */
static bool may_be_in_malloc(struct task *task)
{
	struct process *p = task->process;

	if (!task_has_memory(task) || !task->stopped || task->listening || task_slot(task) || task_regs(task) < 0 ||
	    freeze_in_syscall(task, NULL))
		return false;
	const uint64_t pc = p->arch->registers.pc(&task->regs);
	const struct breakpoint *const b = breakpoint_find(p, p->arch->breakpoint.hit_address(pc));
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

static bool baseline_begin(struct process *p)
{
	const struct settings *const set = p->tracer->set;

	p->life->start_error = process_start_running(p);
	if (p->life->start_error || !p->life->planted || engine_has_request(p->tracer->engine, REQUEST_LET_GO))
		return false;
	for (uint32_t id = 1; id < kinds_end(set); id++)
		if (kind_has_blocks(kind_of(set, id)))
			ledger_begin_baseline(p->trace, id);
	put_defer(p->trace);
	return true;
}

static void note_baseline_copied(struct process *p)
{
	ledger_baseline_copied(p->trace);
}

/* ---- The blocks of the copy ---- */

struct entering {
	struct process *p;
	struct service service;
	struct baseline *baseline;
	bool goes_on;
};

static void enter_part(struct entering *e, uint32_t resource, const struct heap *heap, size_t from, size_t to)
{
	struct baseline_block part[PART];
	uint32_t in_part = 0;

	for (size_t i = from; i < to; i++) {
		const struct heap_block block = heap_block(heap, i);

		if (!ledger_baseline(e->p->trace, resource, block.address, block.size))
			continue;
		part[in_part++] = (struct baseline_block){block.address, block.size};
		e->baseline->bytes += block.size;
	}
	e->baseline->blocks += in_part;
	if (in_part)
		output_baseline(e->p->trace, resource, part, in_part);
}

struct room {
	size_t count;
	struct hash hash;
};

static void baseline_make_room(void *context)
{
	struct room *const room = context;

	room->hash = hash_with_room(room->count);
}

/* Makes the ledger's table large enough. Otherwise the program would have to wait while the table grows by millions of
 * blocks. */
static void baseline_reserve(struct entering *e, uint32_t resource, size_t count)
{
	struct room room = {.count = count};

	e->goes_on = service_during(&e->service, background_begin_gently(baseline_make_room, &room));
	ledger_take_room(e->p->trace, resource, &room.hash);
}

/* Adds to the trace those blocks of `heap` that are from before the trace, PART at a time. After each part, acts on the
 * stops that have come meanwhile. */
static void enter_blocks(struct entering *e, uint32_t resource, const struct heap *heap)
{
	const size_t count = heap_count(heap);

	if (count)
		baseline_reserve(e, resource, count);
	for (size_t i = 0; i < count && e->goes_on && baseline_is_pending(e->p); i += PART) {
		enter_part(e, resource, heap, i, count - i < PART ? count : i + PART);
		e->goes_on = service_turn(&e->service, 0);
	}
}

/* Adds to the trace those blocks of the copy that are from before the trace, ends the baseline in the ledger, and frees
 * the copy. Returns false if no task is left to trace. */
static bool end_baseline(struct process *p, const struct traced_capture *capture, struct baseline *baseline)
{
	struct entering entering = {
		.p = p, .service = service_begin(p->tracer), .baseline = baseline, .goes_on = capture->goes_on};
	const struct settings *const set = p->tracer->set;
	const struct heap *const heap =
		capture->heap_capture && !capture->reason ? heap_capture_heap(capture->heap_capture) : NULL;

	for (uint32_t id = 1; id < kinds_end(set); id++) {
		if (!kind_has_blocks(kind_of(set, id)) || !p->trace->ledger.live)
			continue;
		if (heap)
			enter_blocks(&entering, id, heap);
		ledger_end_baseline(p->trace, id, heap && entering.goes_on);
	}
	put_undefer(p->trace);
	heap_capture_free(capture->heap_capture);
	entering.goes_on = entering.goes_on && service_turn(&entering.service, 0);
	if (entering.service.longest_ns > baseline->stopped_ns)
		baseline->stopped_ns = entering.service.longest_ns;
	return entering.goes_on;
}

bool baseline_is_wanted(const struct tracer *t)
{
	/* With -L, releases made by other objects are not seen, so released blocks of a baseline would seem live. */
	for (uint32_t id = 1; t->set->baseline && !t->set->traced.library_count && id < kinds_end(t->set); id++)
		if (kind_has_blocks(kind_of(t->set, id)))
			return true;
	return false;
}

bool baseline_take(struct process *p, struct baseline *baseline)
{
	const struct traced_capture capture =
		capture_consistent(p, &(struct capture_request){.is_wanted = baseline_is_pending,
								.begin = baseline_begin,
								.is_early = is_early,
								.copied = note_baseline_copied,
								.spares_sleepers = true,
								.is_for_blocks = true});

	*baseline = (struct baseline){
		.pid = p->pid,
		.is_taken = capture.heap_capture && p->tasks,
		.reason = capture.reason,
		.stopped_ns = capture.stopped_ns > capture.longest_ns ? capture.stopped_ns : capture.longest_ns,
		.caught_up_ns = capture.caught_up_ns,
		.pauses = capture.pauses,
		.paused_ns = capture.paused_ns,
	};
	return end_baseline(p, &capture, baseline);
}
