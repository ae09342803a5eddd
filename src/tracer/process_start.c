#include "config.h"
#include "tracer/process_start.h"
#include "tracer/exit_captures.h"
#include "tracer/forks.h"
#include "tracer/kernel_events.h"
#include "tracer/process.h"
#include "tracer/process_objects.h"
#include "calls/abandoned_calls.h"
#include "calls/contexts.h"
#include "calls/probes/kernel_probes.h"
#include "calls/probes/ifunc_slots.h"
#include "calls/probes/r_debug.h"
#include "calls/probes/manual_symbols.h"
#include "calls/probes/pattern_probes.h"
#include "calls/probes/probes.h"
#include "calls/unseen_entries.h"
#include "record/attachments.h"
#include "record/resource_ids.h"
#include "record/ledger.h"
#include "record/trace_output.h"
#include "record/run_summary.h"
#include "breakpoints/breakpoints.h"
#include "engine/engine.h"
#include "unwind/unwind.h"
#include "proc/proc.h"
#include "base/timed.h"

#include <errno.h>

/* Breakpoints are inserted when everything else is prepared, and removed before anything else is undone. */

/* Does everything that must precede the insertion of breakpoints. Returns 0 or -errno. */
static int process_prepare(struct process *p)
{
	for (size_t i = 0; i < p->objects.count; i++)
		p->objects.items[i]->probed = p->objects.items[i]->slots_read = false;
	process_update_objects(p);
	if (!p->objects.count)
		return -ESRCH;
	/* Insert the breakpoint at _dl_debug_state first, at which a task stops when the dynamic linker loads or
	 * unloads a library. So no library is unloaded and loaded again unnoticed while functrace inserts the other
	 * breakpoints. */
	probe_linker(p);
	process_update_objects(p);
	r_debug_mark_lasting(p);
	output_start(p->trace);
	const int error = output_begin(p->trace);

	if (error < 0)
		return error;
	p->life->planted = p->text->planting = true;
	kernel_probes_await_removal(p);
	probe_manual_symbols(p);
	for (size_t i = 0; i < p->objects.count; i++) {
		probe_object(p, p->objects.items[i]);
		probe_patterns(p, p->objects.items[i]);
	}
	probe_resolved(p);
	return 0;
}

/* ---- Resources from before the trace ---- */

struct existing_kind {
	struct trace *trace;
	uint32_t resource;
};

static bool on_descriptor(void *context, int fd)
{
	const struct existing_kind *kind = context;

	ledger_existing(kind->trace, kind->resource, (uint64_t)fd);
	return true;
}

/* Inserts the breakpoints, and then records the descriptors that are already open. In this order no descriptor is
 * missed, because each open and close meanwhile has its event:
 *
 *	inserted | T: open() = 3, in the kernel | 3 is in /proc | T: its return is seen: 3 is not counted twice */
static void process_plant(struct process *p)
{
	const struct resource *kind;

	if (p->trace->origin.attached)
		unseen_begin(p);
	process_plant_probes(p);
	contexts_find(p, true);
	for (uint32_t id = 1; (kind = kind_of(p->tracer->set, id)); id++)
		if (kind->existing == EXISTING_DESCRIPTORS)
			proc_each_descriptor(proc_live_thread(p->pid), on_descriptor,
					     &(struct existing_kind){p->trace, id});
}

int process_start(struct process *p)
{
	const int error = process_prepare(p);

	/* Reading files may have taken long, so check whether tasks wait. */
	timed_look();
	if (!error && !engine_has_request(p->tracer->engine, REQUEST_LET_GO))
		process_plant(p);
	process_time_reads(p->tracer);
	return error;
}

/* Returns true if a task is alive. A process with tasks and without objects is in an execve, and is started after the
 * execve. */
static bool has_living_task(const struct process *p)
{
	FOR_EACH_TASK(task, p)
		if (proc_is_alive(task->tid))
			return true;
	return false;
}

int process_start_running(struct process *p)
{
	process_own(p);
	if (p->shared)
		process_find_anchor(p);
	process_update_objects(p);
	/* Read unwind tables before the breakpoints are inserted, while no task of the process waits for the tracer. */
	if (p->tracer->set->calls.depth)
		unwinder_prepare(p->unwinder);
	sigtrap_begin(p);
	const int error = process_start(p);

	p->anchor = 0;
	return error == -ESRCH && has_living_task(p) ? 0 : error;
}

/* Takes the breakpoints and probes out of the process's text, and forgets the calls that are in flight. */
static void take_out(struct process *p)
{
	process_own(p);
	text_about_to_change(p);
	kernel_events_take(p->tracer);
	kernel_probes_remove(p);
	breakpoints_remove_some(p, true, SIZE_MAX);
	breakpoints_remove_some(p, false, SIZE_MAX);
	calls_drop_all(p);
}

void process_rest(struct process *p)
{
	take_out(p);
	p->life->planted = false;
}

void process_wake(struct process *p)
{
	process_own(p);
	process_update_objects(p);
	probe_linker(p);
	/* The linker may have loaded a library before this breakpoint was in place. */
	process_update_objects(p);
	p->life->planted = p->text->planting = true;
	kernel_probes_await_removal(p);
	p->text->probes_known = false; /* the last window may have brought the kernel's page of probes */
	HASH_EACH_PTR(struct breakpoint, b, &p->text->breakpoints)
		if (b->probe && !b->inserted)
			breakpoint_insert(p, breakpoint_code(b));
	/* Finds the functions of the objects that are new, and writes all breakpoints. */
	process_update_objects(p);
	if (p->trace->origin.attached)
		unseen_begin(p);
}

void process_clear(struct process *p, const char *why)
{
	output_end_sink(p->trace, why);
	exit_captures_finish(p);
	take_out(p);
	attachments_take(p->trace, process_proc_task(p));
	report_over(p->trace, why);
	p->life->planted = false;
}

void process_pause(struct process *p, const char *why)
{
	process_clear(p, why);
	process_time_reads(p->tracer);
	output_end(p->trace, true);
}
