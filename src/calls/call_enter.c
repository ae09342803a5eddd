#include "config.h"
#include "calls/call_enter.h"
#include "calls/probes/alias.h"
#include "calls/arguments.h"
#include "calls/contexts.h"
#include "calls/nested_blocks.h"
#include "calls/abandoned_calls.h"
#include "calls/nesting.h"
#include "calls/range_release.h"
#include "calls/sigtrap.h"
#include "calls/backtrace.h"
#include "calls/call_numbers.h"
#include "record/ledger.h"
#include "record/trace_output.h"
#include "record/remarks.h"
#include "breakpoints/breakpoints.h"
#include "breakpoints/out_of_line_slots.h"
#include "ptrace/tasks.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Acts on entries of traced functions. A release that cannot fail is written at once; for any other call, functrace
 * waits for the return. */

/* Returns true if there is a constant, not an instruction, at the return address. Compilers put constants there only if
 * they know that the called function never returns (__cxa_throw, abort, or a function of the program). Functions that
 * allocate or release always return, and are not examined. */
static bool never_returns(struct process *p, const struct probe *probe, uint64_t return_address)
{
	const struct arch_memory code = {.read = breakpoints_read, .context = p};

	return p->arch->breakpoint.is_constant && !probe_is_hook(probe) && probe->function->role == ROLE_CALL &&
	       p->arch->breakpoint.is_constant(return_address, &code);
}

/* Returns the breakpoint at a return address, and inserts it if it is missing. If no breakpoint can be there, returns
 * NULL and sets *count to the counter that the caller increments. A program may also jump to a function's entry, for
 * example if a loop begins with the function's first instruction. Then there is no call instruction before the supposed
 * return address, and no breakpoint may be written there. */
static struct breakpoint *return_site(struct task *task, const struct probe *probe, uint64_t return_address,
				      uint64_t **count)
{
	struct process *const p = task->process;
	const uint64_t address = arch_text_address(p->arch, return_address);
	struct breakpoint *b = breakpoint_find(p, address);
	const struct arch_memory code = {.read = breakpoints_read, .context = p};
	struct counts *const counts = &p->trace->counts;
	enum arch_call kind;

	*count = &counts->no_return_seen;
	/* The kernel has recorded the call, and records its return. The code that made the call may be gone, if the
	 * process has executed another program since. */
	if (task_calls(task)->is_fed)
		return b && b->calls ? b : breakpoint_add(p, return_address);
	if (b && b->is_return)
		return breakpoint_refresh(p, b) ? b : breakpoint_insert(p, return_address);
	if (arch_call_before(p->arch, return_address, &code, &kind) < 0) {
		if (!objects_find(&p->objects, address))
			*count = &counts->not_calls;
		return NULL;
	}
	if (kind == CALL_NONE || never_returns(p, probe, return_address)) {
		*count = kind == CALL_NONE ? &counts->not_calls : &counts->abandoned;
		return NULL;
	}
	b = breakpoint_insert(p, return_address);
	if (b) {
		b->is_return = true;
		breakpoint_calls(b)->is_computed = kind == CALL_COMPUTED;
	}
	return b;
}

/* Returns the called function, under the name that the caller used. Reads the caller's code only if the function is
 * called by several names. */
static const struct traced *called_as(struct task *task, const struct probe *probe)
{
	uint64_t return_address;

	if (!probe->asks_caller || !stack_return_address(task, false, &return_address))
		return &probe->traced;
	return alias_called(task->process, probe, return_address);
}

/* Settles the reservation (NULL: none) of an id when another call begins to release this id. is_inner: the new release
 * is a part of a call in flight of this task. Then commits a reservation of this task, because the release by the call
 * that made the reservation has succeeded, and leaves a reservation of another task open. Without is_inner, withdraws
 * the reservation: the call that made it has ended without a return, or leaves the release to the new call. */
static void entered_release(struct task *task, struct reservation *reserved, bool is_inner, uint64_t time_ns)
{
	const struct call *const owner = reserved ? reserved->owner : NULL;

	if (owner && !is_inner)
		ledger_withdraw(task->process->trace, reserved);
	else if (owner && owner->task == task)
		ledger_commit(task->process->trace, reserved, time_ns);
}

/* Makes the event of the call's release, without a stack. Returns false if the call releases nothing, for example
 * free(NULL), or a range that begins inside a page, which the kernel refuses. */
static bool released_event(struct task *task, const struct probe *probe, const struct operands *of, struct event *e)
{
	const struct function *f = probe->wanted->function;

	*e = (struct event){.thread = task_calls(task)->thread,
			    .function = &probe->traced,
			    .time_ns = times_now(&task->process->trace->times)};
	if (!value_id(of, f->role == ROLE_REALLOC ? &f->released : &f->id, &e->id) ||
	    (f->stays.test != TEST_NONE && value_condition_holds(of, &f->stays)))
		return false;
	/* A range of 0 bytes releases nothing (mremap of 0 bytes creates another mapping). */
	if (f->extent.kind != VALUE_NONE && !(e->extent = value_of(of, &f->extent)))
		return false;
	return !probe->wanted->kind->is_range || e->id % page_size() == 0;
}

/* Returns true if the release's event needs a stack: with -A, or if a part of a range stays live. That part is written
 * as an allocation, which always has a stack. */
static bool wants_release_stack(const struct process *p, const struct probe *probe, const struct event *e)
{
	return p->tracer->set->calls.backtrace_all ||
	       (probe->wanted->kind->is_range && ledger_leaves_rest(p->trace, e));
}

static void enter_release(struct task *task, const struct probe *probe, uint64_t return_sp, struct event *e)
{
	struct unwind_frame frames[MAX_FRAMES + 2];
	const uint32_t resource = probe->wanted->resource;
	struct process *p = task->process;

	/* The release of a live block is an event of its own, even if another traced function makes it. But if a call
	 * in flight (realloc) has reserved the block, that call releases it. */
	const bool is_known = ledger_holds(p->trace, e) && !call_reserved(p, resource, e->id);
	const bool is_inner = release_fold_reserved(task, probe, return_sp, e->id) ||
			      (!is_known && call_fold(task, probe, return_sp, NULL));

	entered_release(task, p->trace->ledger.reserved ? ledger_reserved(p->trace, resource, e->id) : NULL, is_inner,
			e->time_ns);
	if (is_inner || release_fold(task, probe, return_sp, e->id) || release_count_bookkeeping(task, probe, e))
		return;
	e->function = called_as(task, probe);
	e->context = contexts_of(task);
	e->args = arguments_entered(task, probe, e->function, NULL);
	if (wants_release_stack(p, probe, e))
		stack_of_event(e, task, frames, true);
	ledger_released(p->trace, e);
	arg_list_unref(e->args);
}

/* Writes the release of all ids from the event's id to the value `last` of the table row. */
static void enter_release_between(struct task *task, const struct probe *probe, const struct operands *of,
				  struct event *e)
{
	struct unwind_frame frames[MAX_FRAMES + 2];

	e->function = called_as(task, probe);
	e->context = contexts_of(task);
	e->args = arguments_entered(task, probe, e->function, NULL);
	if (task->process->tracer->set->calls.backtrace_all)
		stack_of_event(e, task, frames, true);
	ledger_released_between(task->process->trace, e, value_of(of, &probe->wanted->function->last));
	arg_list_unref(e->args);
}

static bool is_same_block(struct process *p, const struct call *older, const struct operands *inner)
{
	const struct operands outer = {.p = p, .row = older->probe->wanted, .args = older->args};
	const struct function *f = older->probe->function, *g = inner->row->function;

	return value_of(&outer, &f->size) == value_of(inner, &g->size) &&
	       value_of(&outer, &f->released) == value_of(inner, &g->released);
}

/* Returns true if the older call, which has the same return_sp, is still in flight at this entry: another probe of this
 * entry has begun the older call, or its function has jumped here (reallocarray -> realloc). If the call instruction
 * can call several functions, it may instead have called this function itself, after the older call has ended. Then a
 * jump is assumed only if both calls allocate the same size and release the same block. */
static bool is_under_way(struct task *task, const struct call *older, const struct probe *probe,
			 const struct operands *of)
{
	if (older->probe == probe)
		return false;
	/* Calls that are never folded have no block to compare. Most of them go through a pointer or a vtable, so that
	 * the call instruction can call several functions. The older call counts as in flight all the same. */
	if (probe_is_nested(older->probe) || probe_is_nested(probe))
		return true;
	if (!older->site->calls->is_computed || (older->task == task && older->entered == task->at_stop))
		return true;
	return probe_same_kind(older->probe, probe) && is_same_block(task->process, older, of);
}

/* If the function of a call in flight with this return_sp has jumped here, and that call is of the same kind, folds the
 * new call into it and returns true. A call of another kind stays separate. Drops older calls with this return_sp that
 * have ended without a return. */
static bool fold_tail_call(struct task *task, const struct probe *probe, uint64_t return_sp, uint64_t return_address,
			   const struct operands *of)
{
	struct call *outer = NULL;

	for (struct call *call = call_find(task->process, return_sp), *older; call; call = older) {
		older = call->older;
		if (call->return_address != return_address || !is_under_way(task, call, probe, of))
			call_abandon(task->process, call);
		else if (probe_same_kind(call->probe, probe) && !probe_is_nested(probe))
			outer = call;
	}
	if (!outer)
		return false;
	outer->inner = probe;
	outer->inner_sp = return_sp;
	return true;
}

/* Reserves the release that the call makes if it succeeds. */
static void call_enter_reserve(struct task *task, struct call *call, struct event *e)
{
	struct process *p = task->process;
	struct unwind_frame frames[MAX_FRAMES + 2];

	e->function = call->traced;
	e->context = call->context;
	e->args = call->shown ? call->shown->list : NULL;
	if (wants_release_stack(p, call->probe, e)) {
		stack_of_event(e, task, frames, true);
		e->frames = frames_copy(e->frames, e->frame_count);
		e->has_frames = e->frames;
	}
	ledger_reserve(p->trace, &call->release, e, call);
}

/* Begins a call whose return is traced. `e`: the call's release, or NULL. */
static struct call *call_begin(struct task *task, const struct probe *probe, uint64_t return_sp, const uint64_t *args,
			       struct breakpoint *site, struct event *e)
{
	struct call *call = call_add(task, probe, called_as(task, probe), site, return_sp);

	memcpy(call->args, args, sizeof(call->args));
	call->first_event = task->process->trace->output.next_index;
	if (probe->wanted->hook == HOOK_CONTEXT_FUNCTION)
		call_set_context(task->process, call, output_context(task->process->trace, probe->traced.shown));
	else if (!probe_is_hook(probe))
		call->context = contexts_of(task);
	arguments_begin(task, call);
	stack_keep(task, call);
	if (e)
		call_enter_reserve(task, call, e);
	return call;
}

/* Called at a hit that the task repeats, because a signal was delivered before the instruction ran. Returns true if
 * functrace has acted on the first hit already. */
static bool is_dealt_with(struct task *task, const struct probe *probe, uint64_t return_sp)
{
	const struct function *f = probe->function;
	uint64_t return_address;

	if (f->role == ROLE_RELEASE && !f->can_fail && (!f->fails_unknown || release_was_last(task, probe, return_sp)))
		return true;
	const struct call *call = call_find(task->process, return_sp);

	while (call && call->probe != probe)
		call = call->older;
	return call && stack_return_address(task, false, &return_address) && call->return_address == return_address;
}

/* Writes a note that, according to the compiler, the call does not return. */
static void never_returned(struct task *task, const struct probe *probe)
{
	struct event e = {.thread = task_calls(task)->thread, .function = called_as(task, probe)};

	e.args = arguments_entered(task, probe, e.function, NULL);
	remark_no_return(task->process->trace, &e, "the function never returns");
	arg_list_unref(e.args);
}

/* Begins the call, unless it is folded into another call. Returns the struct call if the call's return is traced, else
 * NULL. */
static struct call *enter_call(struct task *task, const struct probe *probe, uint64_t return_sp,
			       uint64_t return_address, const struct operands *of, struct event *e)
{
	struct process *p = task->process;
	struct call *own = NULL;
	uint64_t *count;

	if (fold_tail_call(task, probe, return_sp, return_address, of) ||
	    (task_newest_call(task) && !probe_is_nested(probe) && call_fold(task, probe, return_sp, &own) && !own))
		return NULL;
	struct breakpoint *site = return_site(task, probe, return_address, &count);

	if (site) {
		struct call *const call = call_begin(task, probe, return_sp, of->args, site, e);

		if (own)
			inner_begin(call, own);
		return call;
	}
	++*count;
	if (count == &p->trace->counts.abandoned)
		never_returned(task, probe);
	return NULL;
}

/* Returns true if a stack will most probably be needed when the call returns. */
static bool wants_stack(const struct process *p, const struct probe *probe)
{
	const struct settings *set = p->tracer->set;

	return set->calls.depth && !set->calls.stack_size_count && !probe_is_hook(probe) &&
	       probe->wanted->function->role != ROLE_RELEASE;
}

static struct call *enter_watched(struct task *task, const struct probe *probe, uint64_t return_sp,
				  const struct operands *of, struct event *e)
{
	uint64_t return_address;

	if (stack_return_address(task, wants_stack(task->process, probe), &return_address))
		return enter_call(task, probe, return_sp, return_address, of, e);
	task->process->trace->counts.no_return_seen++;
	return NULL;
}

/* Reserves the release of all live ids from the event's id to the value `last` of the table row. The release can fail,
 * so it is written only when it has succeeded. */
static void enter_range(struct task *task, const struct probe *probe, uint64_t return_sp, const struct operands *of,
			struct event *e)
{
	struct process *p = task->process;
	struct unwind_frame frames[MAX_FRAMES + 2];
	size_t count;
	uint64_t *const ids = ledger_ids_between(p->trace, probe->wanted->resource, e->id,
						 value_of(of, &probe->wanted->function->last), &count);
	struct call *const call =
		count || p->tracer->set->calls.args ? enter_watched(task, probe, return_sp, of, NULL) : NULL;

	if (call && count) {
		e->function = call->traced;
		e->context = call->context;
		e->args = call->shown ? call->shown->list : NULL;
		if (p->tracer->set->calls.backtrace_all)
			stack_of_event(e, task, frames, true);
		range_reserve(p, call, e, ids, count);
	}
	free(ids);
}

/* Returns true if the table row applies to the call. A row of a kind with of_group (descriptors) does not apply in a
 * vfork's child, which shares its parent's memory, but has descriptors of its own. */
static bool is_of_row(const struct task *task, const struct probe *probe, const struct operands *of)
{
	if (probe->wanted->kind->of_group && task->tgid != task->process->pid)
		return false;
	return of->row->function->conditions[0].test == TEST_NONE || value_conditions_hold(of);
}

static void enter_row(struct task *task, const struct probe *probe, uint64_t return_sp, const struct operands *of)
{
	const struct trace *trace = task->process->trace;
	const struct function *f = probe->wanted->function;
	struct event e;

	if (!is_of_row(task, probe, of))
		return;
	const bool releases =
		(f->role == ROLE_RELEASE || f->role == ROLE_REALLOC) && released_event(task, probe, of, &e);

	if (releases)
		inner_released(task->process, probe->wanted->resource, e.id);
	const bool is_asked = f->may_release_none || f->fails_unknown || probe->wanted->kind->folds_in_object;
	const bool is_held = releases && is_asked && ledger_holds(trace, &e);

	if (f->role == ROLE_RELEASE && !releases)
		return;
	if (f->last.kind != VALUE_NONE) {
		if (f->can_fail)
			enter_range(task, probe, return_sp, of, &e);
		else
			enter_release_between(task, probe, of, &e);
		return;
	}
	/* With -a the return is traced even if the call releases nothing, because a failure is noted in the trace. */
	const bool is_remarked = f->may_release_none && f->can_fail && task->process->tracer->set->calls.args;

	if (f->role == ROLE_RELEASE && !is_held && !is_remarked &&
	    (f->may_release_none || release_is_library_own(task, probe)))
		return;
	if (f->role == ROLE_RELEASE && !f->can_fail && (!f->fails_unknown || is_held))
		enter_release(task, probe, return_sp, &e);
	/* A release inside a preloaded close() is a part of that call, whose entry has already released the
	 * descriptor. */
	else if (f->role != ROLE_RELEASE || !f->fails_unknown || !release_fold(task, probe, return_sp, e.id))
		enter_watched(task, probe, return_sp, of, releases && (!f->may_release_none || is_held) ? &e : NULL);
}

static void enter_probe(struct task *task, const struct probe *probe, uint64_t return_sp, const uint64_t *args)
{
	const struct operands of = {.p = task->process, .row = probe->wanted, .args = args};

	if (probe_is_hook(probe))
		enter_watched(task, probe, return_sp, &of, NULL);
	else
		enter_row(task, probe, return_sp, &of);
}

void call_enter(struct task *task, struct breakpoint *b)
{
	const uint64_t return_sp = task->process->arch->convention.return_sp(&task->regs);
	uint64_t args[CALL_ARGS];

	task_args(task, args);
	const bool is_redone = task_has_undone_hits(task) && hit_redo(task, b, args, probe_arguments(b->probe));

	for (const struct probe *probe = b->probe; probe; probe = probe->next) {
		if (probe->wanted->hook == HOOK_SIGACTION && !probe->is_resolver &&
		    ((int)args[0] != SIGTRAP || !sigtrap_set(task, args[1])))
			continue;
		if (probe->wanted->hook == HOOK_SIGMASK && !probe->is_resolver) {
			sigtrap_mask_changes(task, (int)args[0], args[1]);
		} else if (probe->wanted->hook == HOOK_CATCH) {
			calls_abandoned_below(task, return_sp);
		} else if ((probe->wanted->hook == HOOK_CONTEXT_ENTER || probe->wanted->hook == HOOK_CONTEXT_EXIT) &&
			   !probe->is_resolver) {
			contexts_hit(task, probe, args[0]);
		} else if (probe->wanted->hook != HOOK_LIBRARY &&
			   !(is_redone && is_dealt_with(task, probe, return_sp))) {
			enter_probe(task, probe, return_sp, args);
		}
	}
}
