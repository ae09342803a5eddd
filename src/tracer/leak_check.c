#include "config.h"
#include "tracer/leak_check.h"
#include "base/msg.h"
#include "record/resource_ids.h"
#include "record/ledger.h"
#include "record/trace_output.h"
#include "record/run.h"
#include "scan/capture/heap_capture.h"

/* Largest sizes, in bytes, of a copy for the allocator's figures alone. The limit is smaller for a fork's child,
 * because the child also has its parent's memory, and there may be many children. */
#define FIGURES_BYTES_MAX (256u << 20)
#define FORKED_BYTES_MAX  (16u << 20)

struct context {
	struct trace *trace;
	uint32_t resource;
};

static void leak_check_put_lost(void *context, uint64_t address, enum heap_class class)
{
	static const enum lost_kind kinds[] = {
		[HEAP_LOST] = LOST_DEFINITELY, [HEAP_INDIRECT] = LOST_INDIRECTLY, [HEAP_POSSIBLE] = LOST_POSSIBLY};
	const struct context *c = context;

	if (!ledger_knew(c->trace, c->resource, address))
		return;
	ledger_lost(c->trace, c->resource, address, kinds[class]);
	output_lost(c->trace, c->resource, address, kinds[class]);
}

/* Writes the result of the leak check for each kind whose ids are addresses of the heap. reason: why the result is
 * unknown; NULL: it is known. With `capture` and `reason` NULL writes that no block is lost. */
static void leak_check_put_all(struct trace *trace, const struct heap_capture *capture, const char *reason)
{
	const struct settings *set = trace->run->set;

	for (uint32_t id = 1; id < kinds_end(set); id++) {
		const struct resource *kind = kind_of(set, id);
		struct context context = {trace, id};

		if (!kind_has_blocks(kind))
			continue;
		ledger_scan(trace, id, !reason);
		output_scan(trace, id, reason ? reason : "");
		if (capture && !reason)
			heap_capture_each_lost(capture, leak_check_put_lost, &context);
	}
}

static void put_figures(struct trace *trace, const struct heap_figures *f)
{
	const struct record_heap heap = {
		.bottom = f->bottom,
		.top = f->top,
		/* usmblks is always 0: mallinfo(3). */
		.info = {f->arena, f->ordblks, f->smblks, f->hblks, f->hblkhd, 0, f->fsmblks, f->uordblks, f->fordblks,
			 f->keepcost},
	};

	output_heap(trace, &heap);
}

static bool leak_check_is_any(const void *context, uint64_t id)
{
	(void)context, (void)id;
	return true;
}

static bool leak_check_is_there(const void *context, uint64_t id)
{
	return heap_capture_has(context, id);
}

static bool has_block(const struct trace *trace, bool (*is_it)(const void *context, uint64_t id),
		      const struct heap_capture *capture)
{
	const struct settings *set = trace->run->set;

	for (uint32_t id = 1; id < kinds_end(set); id++)
		if (kind_has_blocks(kind_of(set, id)) && ledger_has_any(trace, id, is_it, capture))
			return true;
	return false;
}

/* Returns true if the trace has blocks, and all of them are outside this heap. Then the program has an allocator of its
 * own, and the heap is the C library's. The tracer acts on no stop meanwhile, and there may be millions of blocks, so
 * this function looks at as few as possible. */
static bool leak_check_is_of_another(const struct trace *trace, const struct heap_capture *capture)
{
	return has_block(trace, leak_check_is_any, capture) && !has_block(trace, leak_check_is_there, capture);
}

static void note_ledger_block(void *context, uint64_t id, uint64_t size)
{
	heap_capture_note_block(context, id, size);
}

bool leak_check_may_be_known(const struct trace *trace, struct heap_capture *capture, const char *reason)
{
	const struct settings *set = trace->run->set;

	if (!reason && leak_check_is_of_another(trace, capture))
		heap_capture_forget(capture);
	if (reason && !heap_capture_is_unknown(capture))
		return false;
	for (uint32_t id = 1; id < kinds_end(set); id++)
		if (kind_has_blocks(kind_of(set, id)))
			ledger_each_copied(trace, id, note_ledger_block, capture);
	return true;
}

/* Warns of memory and registers that may contain pointers, but are missing in the copy. */
static void warn_of_unknown(const struct trace *trace, const struct heap_capture *capture)
{
	const uint64_t bytes = heap_capture_unknown_bytes(capture);
	const size_t threads = heap_capture_unknown_threads(capture);
	char number[32];

	if (bytes)
		msg_warn(
			"process %d: %s bytes of its memory could not be copied (shared memory that it has not "
			"touched, or very wide mappings), and may have pointers: blocks that no known pointer leads to "
			"are only possibly lost",
			trace->pid, number_grouped(bytes, number));
	if (threads)
		msg_warn("process %d: %zu thread%s inside the kernel could not be stopped, so %s registers are "
			 "unknown, and may have pointers: blocks that no known pointer leads to are only possibly lost",
			 trace->pid, threads, threads == 1 ? "" : "s", threads == 1 ? "its" : "their");
}

void leak_check_write(struct trace *trace, struct heap_capture *capture, const char *reason)
{
	const struct heap_figures *figures = reason ? NULL : heap_capture_figures(capture);

	if (!reason)
		warn_of_unknown(trace, capture);
	if (figures)
		put_figures(trace, figures);
	leak_check_put_all(trace, capture, reason);
}

bool leak_check_is_wanted(const struct process *p)
{
	return p->tracer->set->scan.is_traced && p->trace->output.writer;
}

bool leak_check_figures_are_wanted(const struct process *p)
{
	const struct settings *set = p->tracer->set;
	bool has_blocks = false;

	for (uint32_t id = 1; id < kinds_end(set); id++)
		has_blocks |= kind_has_blocks(kind_of(set, id));
	return has_blocks && set->baseline && !set->scan.is_traced &&
	       encoding_can(set->trace.encoding, ENCODING_SCANS) && p->trace->output.writer && !p->trace->broken;
}

void leak_check_write_figures(struct trace *trace, struct heap_capture *capture, const char *reason)
{
	/* If traced calls have allocated blocks, but no heap was found or no block is in the heap, the blocks are from
	 * an allocator that functrace does not know. */
	if (reason ? trace->counts.events && heap_capture_is_unknown(capture)
		   : leak_check_is_of_another(trace, capture))
		reason = "functrace does not understand the program's allocator";
	const struct heap_figures *figures = reason ? NULL : heap_capture_figures(capture);
	struct run *run = trace->run;

	if (figures)
		put_figures(trace, figures);
	if (figures || !trace->counts.events)
		return;
	if (!run->sums.without_figures++)
		run->sums.why_without = reason ? reason : "the program's allocator keeps no such figures";
}

uint64_t leak_check_figures_limit(const struct process *p)
{
	return p->trace->origin.is_forked ? FORKED_BYTES_MAX : FIGURES_BYTES_MAX;
}

void leak_check_at_exec(struct process *p)
{
	if (leak_check_is_wanted(p))
		leak_check_put_all(p->trace, NULL, NULL);
}
