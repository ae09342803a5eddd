#include "config.h"
#include "calls/enter.h"
#include "calls/alias.h"
#include "calls/nesting.h"
#include "calls/sigtrap.h"
#include "calls/stack.h"
#include "calls/values.h"
#include "record/ledger.h"
#include "record/output.h"
#include "text/breakpoints.h"
#include "text/slots.h"
#include "ptrace/memory.h"
#include "ptrace/tasks.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Calls from entry to return. */

#define MISSES_MAX    64         /* hits of a return site without a call before it is taken out */
#define ABANDONED_MAX (1u << 20) /* how far below sp an abandoned call of the same stack is looked for */

/* ---- The stack ---- */

static bool size_monitored(const struct settings *set, uint64_t size)
{
	if (!set->monitor_count)
		return true;
	for (size_t i = 0; i < set->monitor_count; i++)
		if (size >= set->monitor[i].low && size <= set->monitor[i].high)
			return true;
	return false;
}

/* The stack for an event. At an entry the walk begins in the traced function itself, which
 * is not shown; at a return it begins in the caller. */
static void event_stack(struct event *e, struct task *task, struct unwind_frame frames[MAX_FRAMES + 2], bool at_entry)
{
	const struct settings *set = task->process->tracer->set;
	bool cut = false;

	if (!set->depth || !size_monitored(set, e->size))
		return;
	size_t count = stack_walk(task, frames, set->depth + 1 + at_entry, 0, &cut);

	if (at_entry && count) {
		frames++;
		count--;
	}
	e->end = count > set->depth ? STACK_CUT : cut ? STACK_LOST : STACK_WHOLE;
	e->frames = frames;
	e->frame_count = count > set->depth ? set->depth : count;
	e->has_frames = true;
}

/* ---- Entry ---- */

/* The breakpoint at a return address. A function's entry can be reached without a call (a loop's head):
 * then the word on the stack is no return address, and nothing may be written there. */
static struct breakpoint *return_site(struct process *p, uint64_t return_address, bool *is_call)
{
	const uint64_t address = arch_text_address(p->arch, return_address);
	struct breakpoint *b = breakpoint_find(p, address);
	unsigned char before[16];
	size_t size = sizeof(before);

	*is_call = true;
	if (b && b->is_return)
		return breakpoint_refresh(p, b) ? b : breakpoint_insert(p, return_address);
	const struct object *object = objects_find(&p->objects, address);

	int error = memory_read(p, address - size, before, size);

	/* The call may be the first code of its mapping, with nothing in the page before. */
	const size_t in_page = address % page_size();

	if (error < 0 && in_page && in_page < size) {
		size = in_page;
		error = memory_read(p, address - size, before, size);
	}
	if (error < 0) {
		*is_call = object != NULL;
		return NULL;
	}
	breakpoints_hide(p, address - size, before, size);
	const enum arch_call kind = p->arch->follows_call(return_address, before, size);

	*is_call = kind != CALL_NONE;
	if (!*is_call)
		return NULL;
	b = breakpoint_insert(p, return_address);
	if (b) {
		b->is_return = true;
		b->is_computed = kind == CALL_COMPUTED;
	}
	return b;
}

/* What the event of the call names. Only where a function is called by several names its caller is asked. */
static const struct traced *called_as(struct task *task, const struct probe *probe)
{
	uint64_t return_address;

	if (!probe->asks_caller || !stack_return_address(task, false, &return_address))
		return &probe->traced;
	return alias_called(task->process, probe, return_address);
}

/* A release of an id that a call has reserved (NULL: none has) is entered, as a part of a call in flight, or on its
 * own. The reserved one has succeeded in the first case; in the second it is over, or it leaves the release to this
 * one. */
static void entered_release(struct task *task, struct call *reserved, bool is_inner)
{
	if (reserved && !is_inner)
		ledger_withdraw(task->process->trace, &reserved->release);
	else if (reserved && reserved->task == task)
		ledger_commit(task->process->trace, &reserved->release);
}

static void enter_release(struct task *task, const struct probe *probe, uint64_t return_sp, const uint64_t *args)
{
	struct unwind_frame frames[MAX_FRAMES + 2];
	const struct function *f = probe->wanted->function;
	const uint32_t resource = probe->wanted->resource;
	struct process *p = task->process;
	struct event e = {.thread = task_calls(task)->thread, .time_ns = output_time(p->trace)};

	if (!value_id(p, probe->wanted->kind, &f->id, args, 0, &e.id))
		return; /* free(NULL) */
	/* A block that is allocated is released here, by whomever; but what a realloc releases is its own. */
	const bool is_known = ledger_knows(p->trace, resource, e.id) && !call_reserved(p, resource, e.id);
	const bool is_inner =
		release_fold_reserved(task, probe, return_sp, e.id) || (!is_known && call_fold(task, probe, return_sp));

	entered_release(task, call_reserved(p, resource, e.id), is_inner);
	if (is_inner || release_fold(task, probe, return_sp, e.id) || release_count_bookkeeping(task, probe, e.id))
		return;
	e.function = called_as(task, probe);
	if (p->tracer->set->backtrace_all)
		event_stack(&e, task, frames, true);
	ledger_released(p->trace, &e);
}

static bool is_same_block(struct process *p, const struct call *older, const struct probe *probe, const uint64_t *args)
{
	const struct function *outer = older->probe->function, *inner = probe->function;

	return value_of(p, &outer->size, older->args, 0) == value_of(p, &inner->size, args, 0) &&
	       value_of(p, &outer->released, older->args, 0) == value_of(p, &inner->released, args, 0);
}

/* Whether the older call, which has the same place on the stack, is at this entry still: it has been entered here by
 * another probe, or has come here by a jump (reallocarray -> realloc). A call instruction that always calls the same
 * function leaves no other way; where it may call this one itself, only the block that both mean can tell. */
static bool is_under_way(struct task *task, const struct call *older, const struct probe *probe, const uint64_t *args)
{
	if (older->probe == probe)
		return false;
	if (!older->site->is_computed || (older->task == task && older->entered == task->at_stop))
		return true;
	return probe_same_kind(older->probe, probe) && is_same_block(task->process, older, probe, args);
}

/* A call at the same place on the stack as one in flight, of the same kind, is a part of it if that has jumped here:
 * true. One of another kind is a call of its own. Older ones that have never returned are dropped. */
static bool fold_tail_call(struct task *task, const struct probe *probe, uint64_t return_sp, uint64_t return_address,
			   const uint64_t *args)
{
	struct call *outer = NULL;

	for (struct call *call = call_find(task->process, return_sp), *older; call; call = older) {
		older = call->older;
		if (call->return_address != return_address || !is_under_way(task, call, probe, args))
			call_stale(task->process, call);
		else if (probe_same_kind(call->probe, probe))
			outer = call;
	}
	if (!outer)
		return false;
	outer->inner = probe;
	outer->inner_sp = return_sp;
	return true;
}

/* What the call releases if it succeeds. */
static void reserve(struct task *task, struct call *call, uint64_t id)
{
	struct process *p = task->process;
	struct unwind_frame frames[MAX_FRAMES + 2];
	struct event e = {
		.thread = task->calls->thread, .function = call->traced, .id = id, .time_ns = output_time(p->trace)};

	if (p->tracer->set->backtrace_all) {
		event_stack(&e, task, frames, true);
		e.frames = frames_copy(e.frames, e.frame_count);
		e.has_frames = e.frames;
	}
	ledger_reserve(p->trace, &call->release, &e);
}

static void call_begin(struct task *task, const struct probe *probe, uint64_t return_sp, const uint64_t *args,
		       struct breakpoint *site)
{
	struct call *call = call_add(task, probe, called_as(task, probe), site, return_sp);
	const struct function *f = call_function(call);

	memcpy(call->args, args, sizeof(call->args));
	stack_keep(task, call);
	if (f->role == ROLE_REALLOC || f->role == ROLE_RELEASE) {
		const struct value *released = f->role == ROLE_REALLOC ? &f->released : &f->id;
		const struct process *p = task->process;
		uint64_t id;

		if (value_id(task->process, probe->wanted->kind, released, args, 0, &id) &&
		    !(f->may_release_none && !ledger_knows(p->trace, probe->wanted->resource, id)))
			reserve(task, call, id);
	}
}

/* Whether a hit that comes again, for a signal had to be delivered first, was dealt with. */
static bool is_dealt_with(struct task *task, const struct probe *probe, uint64_t return_sp)
{
	const struct function *f = probe->function;
	uint64_t return_address;

	if (f->role == ROLE_RELEASE && !f->can_fail)
		return true;
	const struct call *call = call_find(task->process, return_sp);

	while (call && call->probe != probe)
		call = call->older;
	return call && stack_return_address(task, false, &return_address) && call->return_address == return_address;
}

static void enter_call(struct task *task, const struct probe *probe, uint64_t return_sp, uint64_t return_address,
		       const uint64_t *args)
{
	struct process *p = task->process;
	bool is_call;

	if (fold_tail_call(task, probe, return_sp, return_address, args) ||
	    (task_newest_call(task) && call_fold(task, probe, return_sp)))
		return;
	struct breakpoint *site = return_site(p, return_address, &is_call);

	if (!is_call)
		p->trace->counts.not_calls++;
	else if (!site)
		p->trace->counts.no_return_seen++;
	else
		call_begin(task, probe, return_sp, args, site);
}

/* Whether a stack will hardly fail to be wanted when the call returns. */
static bool wants_stack(const struct process *p, const struct probe *probe)
{
	const struct settings *set = p->tracer->set;

	return set->depth && !set->monitor_count && !probe_is_hook(probe) &&
	       probe->wanted->function->role != ROLE_RELEASE;
}

static void enter_probe(struct task *task, const struct probe *probe, uint64_t return_sp, const uint64_t *args)
{
	struct process *p = task->process;
	const struct function *f = probe->function;
	uint64_t return_address;

	if (f->role == ROLE_RELEASE && !f->can_fail)
		enter_release(task, probe, return_sp, args);
	else if (stack_return_address(task, wants_stack(p, probe), &return_address))
		enter_call(task, probe, return_sp, return_address, args);
	else
		p->trace->counts.no_return_seen++;
}

void call_enter(struct task *task, struct breakpoint *b)
{
	const uint64_t return_sp = task->process->arch->return_sp(&task->regs);
	uint64_t args[CALL_ARGS];

	task_args(task, args);
	const bool is_redone = task_has_undone_hits(task) && hit_redo(task, b, args, probe_arguments(b->probe));

	for (const struct probe *probe = b->probe; probe; probe = probe->next) {
		if (probe->wanted->hook == HOOK_SIGACTION && !probe->is_resolver) {
			if ((int)args[0] == SIGTRAP)
				sigtrap_set(task, args[1]);
		} else if (probe->wanted->hook != HOOK_LIBRARY &&
			   !(is_redone && is_dealt_with(task, probe, return_sp))) {
			enter_probe(task, probe, return_sp, args);
		}
	}
}

/* ---- Return ---- */

static void watched_return(struct task *task, const struct call *call)
{
	struct process *p = task->process;
	const uint64_t result = p->arch->result(&task->regs);

	struct object *object = objects_find(&p->objects, result);

	if (object)
		probe_chosen(p, call->probe, result, object);
}

static void call_finish(struct task *task, struct call *call)
{
	struct process *p = task->process;
	const struct function *f = call->probe->function;
	const uint64_t result = value_result(p, f, p->arch->result(&task->regs));
	bool ok = value_is_success(p, f, result);
	struct unwind_frame frames[MAX_FRAMES + 2];
	struct event e = {
		.thread = task_calls(task)->thread, .function = call->traced, .time_ns = output_time(p->trace)};

	e.size = value_of(p, &f->size, call->args, result);
	/* No such block can be. The call has ended by an exception, and another function, called by the same
	 * instruction, returns here. */
	if (e.size > p->arch->address_max && call->site->is_computed)
		ok = false;
	if (ok || (f->role == ROLE_REALLOC && f->zero_size_releases && !e.size))
		ledger_commit(p->trace, &call->release);
	else
		ledger_withdraw(p->trace, &call->release);
	if (f->role == ROLE_RELEASE || !ok)
		return;
	/* A success that has given nothing (posix_memalign of 0 bytes, with some allocators) is no allocation. */
	if (!value_id(p, call->probe->wanted->kind, &f->id, call->args, result, &e.id) && f->role != ROLE_CALL)
		return;
	/* The block has an event already, of a call within this one that was not known to be a part of it. */
	if (call->has_made && call->made == e.id && ledger_knows(p->trace, call->probe->wanted->resource, e.id))
		return;
	event_stack(&e, task, frames, false);
	if (f->role == ROLE_CALL) {
		ledger_call(p->trace, &e);
		return;
	}
	ledger_allocated(p->trace, &e);
	for (struct call *outer = task_newest_call(task); outer; outer = outer->next)
		if (probe_same_kind(outer->probe, call->probe)) {
			outer->made = e.id;
			outer->has_made = true;
		}
}

/* A return site was reached by another way than a traced call's return: that costs the target a
 * stop for nothing, so a hot one is taken out until the next call wants it. */
static void site_missed(struct task *task, struct breakpoint *b, uint64_t sp)
{
	struct process *p = task->process;

	for (struct call *call = task_newest_call(task), *next; call; call = next) {
		next = call->next;
		if (call->site == b && call->return_sp < sp && sp - call->return_sp < ABANDONED_MAX)
			call_stale(p, call);
	}
	if (++b->misses >= MISSES_MAX && !b->in_flight && !b->probe) {
		p->trace->counts.retired++;
		b->misses = 0;
		breakpoint_remove(p, b);
	}
}

static void call_done(struct task *task, struct call *call)
{
	stack_recall(task, call);
	call_unlink(task->process, call);
	if (probe_is_hook(call->probe))
		watched_return(task, call);
	else
		call_finish(task, call);
	call_free(task->process, call);
}

void call_return(struct task *task, struct breakpoint *b)
{
	struct process *p = task->process;
	const uint64_t sp = p->arch->sp(&task->regs);
	struct call *call = call_find(p, sp);

	if (!call || call->site != b) {
		site_missed(task, b, sp);
		return;
	}
	b->misses = 0;
	for (struct call *older; call; call = older) {
		older = call->older;
		call_done(task, call);
	}
}
