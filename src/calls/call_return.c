#include "config.h"
#include "calls/call_return.h"
#include "calls/abandoned_calls.h"
#include "calls/arguments.h"
#include "calls/contexts.h"
#include "calls/probes/alias.h"
#include "calls/probes/kernel_probes.h"
#include "calls/nested_blocks.h"
#include "calls/probes/probes.h"
#include "calls/range_release.h"
#include "calls/backtrace.h"
#include "calls/unseen_entries.h"
#include "calls/call_numbers.h"
#include "record/ledger.h"
#include "record/remarks.h"
#include "record/run.h"
#include "record/string_pool.h"
#include "breakpoints/breakpoints.h"
#include "ptrace/target_memory.h"
#include "proc/proc.h"
#include "uprobe/uprobe_record.h"

#include <string.h>

/* Completes calls at their return: writes the releases and the allocations of the calls that succeeded. */

/* number of successive hits of a return site at which no traced call returns, after which the breakpoint is removed */
#define MISSES_MAX 64
#define IDS_MAX    1024 /* maximum number of ids of one call */

/* A call as it is passed to the row's look(), with its process and resource. */
struct looked_at {
	struct module_call call;
	struct process *p;
	uint32_t resource;
};

/* Probes the function that an IFUNC's resolver returns, because the program will call that function. */
static void resolver_returned(struct task *task, const struct call *call)
{
	struct process *p = task->process;
	const uint64_t result = p->arch->convention.result(&task->regs);

	struct object *object = objects_find(&p->objects, result);

	if (!object)
		return;
	/* A fork's child that borrows the tables gets its own first. */
	text_about_to_change(p);
	p->text->planting = true;
	probe_chosen(p, call->probe, result, object);
	kernel_probes_plant(p);
	probes_plant(p);
}

static bool call_return_read_memory(const struct module_call *call, uint64_t address, void *to, size_t size)
{
	const struct looked_at *at = (const struct looked_at *)call;

	return memory_read(at->p, address, to, size) == 0;
}

static uint64_t mapping_size(const struct module_call *call, uint64_t address)
{
	const struct looked_at *at = (const struct looked_at *)call;
	struct maps maps;

	if (maps_read(proc_live_thread(at->p->pid), &maps))
		return 0;
	const struct mapping *const m = maps_find(&maps, address);
	const uint64_t size = m && m->start == address ? m->end - m->start : 0;

	maps_free(&maps);
	return size;
}

static void call_return_keep_text(const struct module_call *call, uint64_t id, const char *text)
{
	const struct looked_at *at = (const struct looked_at *)call;

	ledger_keep(at->p->trace, at->resource, id, interned_number(at->p->trace->run, text));
}

static const char *kept_text(const struct module_call *call, uint64_t id)
{
	const struct looked_at *at = (const struct looked_at *)call;
	uint64_t number;

	return ledger_kept(at->p->trace, at->resource, id, &number) ? interned_text(at->p->trace->run, number) : NULL;
}

static bool call_return_has_argument(const struct arg_list *list, const char *name)
{
	for (size_t i = 0; list && i < list->count; i++)
		if (!strcmp(list->items[i].name, name))
			return true;
	return false;
}

/* Completes the event by the row's look(). Returns false if look() decides that no event is written. Otherwise e->args
 * is a reference that the caller drops by arg_list_unref(). */
static bool call_return_look(const struct operands *of, unsigned index, struct event *e)
{
	struct module_details details = {.index = index, .id = e->id, .size = e->size};

	const struct looked_at at = {{.args = of->args,
				      .result = of->result,
				      .pointer_size = of->p->arch->pointer_size,
				      .read = call_return_read_memory,
				      .mapped = mapping_size,
				      .keep_text = call_return_keep_text,
				      .kept_text = kept_text},
				     of->p,
				     of->row->resource};

	if (of->row->function->look && !of->row->function->look(&at.call, &details))
		return false;
	e->id = details.id;
	e->size = details.size;
	if (!details.arg_name || call_return_has_argument(e->args, details.arg_name)) {
		arg_list_ref(e->args);
		return true;
	}
	details.arg_value[sizeof(details.arg_value) - 1] = '\0';
	e->args = arg_list_copy(e->args);
	arg_list_add(e->args, details.arg_name, details.arg_value);
	return true;
}

/* Returns the probe at the same function for another kind of the same module, or NULL. */
static const struct probe *probe_beside(const struct process *p, const struct probe *probe, uint32_t resource)
{
	const struct breakpoint *b = breakpoint_find(p, probe->entry);
	const struct probe *beside = b ? b->probe : NULL;

	while (beside && (beside->wanted->resource != resource || beside->wanted->module != probe->wanted->module))
		beside = beside->next;
	return beside;
}

/* If the call has mapped a new range over old ranges of any of the module's kinds, writes the releases of the old
 * ranges. */
static void replace_ranges(const struct call *call, const struct operands *of, const struct event *e)
{
	const struct module *module = call->probe->wanted->module;

	if (call->probe->wanted->function->replaces.test == TEST_NONE ||
	    !value_condition_holds(of, &call->probe->wanted->function->replaces))
		return;
	for (unsigned i = 0; i < module->resource_count; i++) {
		const struct probe *beside =
			module->resources[i].is_range
				? probe_beside(of->p, call->probe, probe_spec_sibling(call->probe->wanted, i))
				: NULL;
		struct event gone = *e;

		gone.function = beside ? &beside->traced : NULL;
		gone.extent = e->size;
		gone.size = 0;
		if (beside && ledger_holds(of->p->trace, &gone))
			ledger_released(of->p->trace, &gone);
	}
}

/* Returns true if the id already has an event, from an inner call that was not folded into this one. */
static bool was_made_within(const struct call *call, const struct trace *trace, uint64_t id)
{
	const uint32_t resource = call->probe->wanted->resource;

	if (!call->has_made || call->made != id || !ledger_knows(trace, resource, id))
		return false;
	/* If the inner call has only added a reference, and the resource is new (a constructor has called a function
	 * that adds a reference), the creation still needs an event. If the resource is older than this call, the
	 * reference that this call returns is the one that the inner call has added and that has an event. */
	return !call->made_is_reference || ledger_made_by(trace, resource, id) < call->first_event;
}

/* Writes the event of one of the call's ids, unless the id already has one. *e has no stack yet. */
static void write_looked(struct task *task, struct call *call, const struct operands *of, struct event *e)
{
	struct trace *trace = of->p->trace;
	struct unwind_frame frames[MAX_FRAMES + 2];

	if (was_made_within(call, trace, e->id)) {
		ledger_made_by_several(trace, of->row->resource, e->id);
		return;
	}
	if (of->row->function->unless_live && ledger_knows(trace, of->row->resource, e->id))
		return;
	if (call->has_parts && !inner_settle(of->p, call, e->id))
		return;
	stack_of_event(e, task, frames, false);
	if (call->part_of) {
		inner_keep(of->p, call, e);
		return;
	}
	e->has_unknown_maker = unseen_may_contain(task, call->probe, e);
	if (of->row->function->role == ROLE_CALL) {
		ledger_call(trace, e);
		return;
	}
	/* If the id is an argument, the caller has the resource already, and the call only adds a reference. */
	const bool is_reference = (of->row->kind->flags & RESOURCE_REFCOUNT) && of->row->function->id.kind == VALUE_ARG;

	replace_ranges(call, of, e);
	ledger_allocated(trace, e);
	for (struct call *outer = task_newest_call(task); outer; outer = outer->next)
		if (probe_same_kind(outer->probe, call->probe)) {
			outer->made = e->id;
			outer->has_made = true;
			outer->made_is_reference = is_reference;
		}
}

/* Completes the event by call_return_look(), and writes it. Returns false if no event is to be written. */
static bool write_event(struct task *task, struct call *call, const struct operands *of, unsigned index,
			struct event *e)
{
	if (!call_return_look(of, index, e))
		return false;
	write_looked(task, call, of, e);
	arg_list_unref(e->args);
	return true;
}

/* Writes the events of all ids of a call. e->id is the first id; the table row describes the others. */
static void write_events(struct task *task, struct call *call, const struct operands *of, struct event *e)
{
	const struct function *f = of->row->function;
	struct value id = f->id;
	bool goes_on = true;

	for (unsigned i = 0; goes_on && i < IDS_MAX; i++) {
		struct event one = *e;
		const bool is_one = write_event(task, call, of, i, &one);

		id.b++;
		goes_on = f->looks_again ? is_one : i + 1u < f->id_count && value_id(of, &id, &e->id);
	}
}

/* Settles the call's reservations: they are written as releases if the call succeeded, and for some functions even if
 * it failed. */
static void end_release(struct process *p, struct call *call, const struct function *f, bool ok, const struct event *e)
{
	if (ok || f->releases_anyway || (f->role == ROLE_REALLOC && f->zero_size_releases && !e->size))
		ledger_commit(p->trace, &call->release, e->time_ns);
	else
		ledger_failed(p->trace, &call->release);
	range_end(p, call, ok ? &e->time_ns : NULL);
}

/* Returns true if another struct call of the same call will write the note about the failure. A call of a function that
 * is traced for several kinds has one struct call per kind; the last one that is completed writes the note. `call` is
 * already unlinked, but its neighbours in the list are those that have not been completed yet. */
static bool is_said_later(const struct call *call)
{
	const struct call *other = call->older ? call->older : call->newer;

	while (other && other->older)
		other = other->older;
	for (; other; other = other->newer)
		if (other->shown && other->probe->start == call->probe->start)
			return true;
	return false;
}

static void call_finish(struct task *task, struct call *call, const uint64_t *pointee)
{
	struct process *p = task->process;
	const struct function *f = call->probe->function;
	const struct operands of = {
		.p = p,
		.row = call->probe->wanted,
		.args = call->args,
		.pointee = pointee,
		.result = value_result(p, f, arguments_result(task, call, p->arch->convention.result(&task->regs)))};
	const bool ok = value_is_success(p, f, of.result);
	struct event e = {.thread = task_calls(task)->thread,
			  .function = call->traced,
			  .time_ns = times_now(&p->trace->times),
			  .context = call->context};

	e.size = value_of(&of, &f->size);
	arguments_returned(task, call, !ok);
	e.args = call->shown ? call->shown->list : NULL;
	end_release(p, call, f, ok, &e);
	if (!ok && e.args && !is_said_later(call) && !(f->role == ROLE_REALLOC && f->zero_size_releases && !e.size))
		remark_failed(p->trace, &e);
	if (f->role == ROLE_RELEASE || !ok)
		return;
	/* A success without an id (posix_memalign of 0 bytes, in some allocators) is no allocation. */
	if (!value_id(&of, &f->id, &e.id) && f->role != ROLE_CALL)
		return;
	e.has_kept = value_read(&of, &f->keeps, &e.kept);
	write_events(task, call, &of, &e);
}

/* Counts a hit of a return site at which no traced call returns. Such a hit costs the target a needless stop, so after
 * MISSES_MAX successive ones the breakpoint is removed; the next call inserts it again. Drops abandoned calls that
 * would return here. */
static void site_missed(struct task *task, struct breakpoint *b, uint64_t sp)
{
	struct process *p = task->process;
	struct breakpoint_calls *site = breakpoint_calls(b);

	calls_abandoned_at_site(task, b, sp);
	if (++site->misses >= MISSES_MAX && !site->in_flight && !b->probe) {
		p->trace->counts.retired++;
		site->misses = 0;
		breakpoint_remove(p, b);
	}
}

/* pointee: as in struct operands. */
static void call_done(struct task *task, struct call *call, const uint64_t *pointee)
{
	stack_recall(task, call);
	call_unlink(task->process, call);
	if (call->probe->is_resolver)
		resolver_returned(task, call);
	else if (call->probe->wanted->hook == HOOK_CONTEXT_CREATE)
		contexts_created(task, call);
	else if (!probe_is_hook(call->probe))
		call_finish(task, call, pointee);
	inner_write_all(task->process, call);
	call_free(task->process, call);
}

/* Completes the calls that are events of their own (probe_is_nested()). If functions have jumped to others, the call of
 * the function that was reached last is completed first, as if each function had called the next. Returns the newest of
 * the other calls, or NULL. */
static struct call *nested_done(struct task *task, struct call *newest)
{
	struct call *rest = NULL;

	for (struct call *call = newest, *older; call; call = older) {
		older = call->older;
		if (probe_is_nested(call->probe))
			call_done(task, call, NULL);
		else if (!rest)
			rest = call;
	}
	return rest;
}

void call_return(struct task *task, struct breakpoint *b)
{
	struct process *p = task->process;
	const uint64_t sp = p->arch->registers.sp(&task->regs);
	struct call *call = call_find(p, sp);

	if ((!call || call->site != b) && p->arch->convention.return_pops)
		call = call_find(p, sp - p->arch->convention.return_pops);
	if (!call || call->site != b) {
		site_missed(task, b, sp);
		return;
	}
	b->calls->misses = 0;
	call = nested_done(task, call);
	while (call && call->older)
		call = call->older;
	for (struct call *newer; call; call = newer) {
		newer = call->newer;
		call_done(task, call, NULL);
	}
}

/* Completes a call of which no entry was recorded, because nothing happened between its entry and its return. */
static void finish_at_once(struct task *task, const struct probe *probe, const struct recorded_return *back)
{
	struct breakpoint_calls none = {0};
	struct breakpoint site = {.address = back->return_address, .calls = &none};
	struct call call = {.task = task,
			    .probe = probe,
			    .traced = back->named ? back->named : &probe->traced,
			    .site = &site,
			    .return_sp = back->return_sp,
			    .return_address = back->return_address,
			    .context = contexts_of(task),
			    .first_event = task->process->trace->output.next_index};

	if (!back->named && probe->asks_caller)
		call.traced = alias_called(task->process, probe, back->return_address);
	memcpy(call.args, back->args, UPROBE_ARGS * sizeof(*call.args));
	call_finish(task, &call, back->pointee);
}

#define RETURNED_MAX 16 /* maximum number of calls that a function can have begun at one entry: one for each kind */

void call_returned(struct task *task, struct breakpoint *entry, const struct recorded_return *back)
{
	struct call *calls[RETURNED_MAX];
	size_t count = 0;

	for (const struct probe *probe = entry->probe; probe && !back->was_entered; probe = probe->next)
		if (probe_is_nested(probe))
			finish_at_once(task, probe, back);
	for (const struct probe *probe = entry->probe; probe && !back->was_entered; probe = probe->next)
		if (!probe_is_nested(probe))
			finish_at_once(task, probe, back);
	for (struct call *call = call_find(task->process, back->return_sp); call && back->was_entered;
	     call = call->older)
		if (call->by_kernel && call->probe->entry == entry->address && count < RETURNED_MAX)
			calls[count++] = call;
	/* In the order of call_return(). */
	for (size_t i = 0; i < count; i++) {
		if (!probe_is_nested(calls[i]->probe)) {
			calls[i]->traced = back->named ? back->named : calls[i]->traced;
			continue;
		}
		call_done(task, calls[i], back->pointee);
		calls[i] = NULL;
	}
	while (count-- > 0)
		if (calls[count])
			call_done(task, calls[count], back->pointee);
}
