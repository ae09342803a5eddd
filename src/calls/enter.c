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

/* A release of an id that a call has reserved (NULL: none has) is entered, as a part of a call in flight, or on its own.
 * The reserved one has succeeded in the first case; in the second it is over, or it leaves the release to this one. */
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
	struct event e = {.thread = task_calls(task)->thread,
			  .id = value_of(p, &f->id, args, 0),
			  .time_ns = output_time(p->trace)};

	if (!e.id && f->success == OK_NONZERO)
		return; /* free(NULL) */
	/* A block that is allocated is released here, by whomever; but what a realloc releases is its own. */
	const bool is_known = ledger_knows(p->trace, resource, e.id) && !call_reserved(p, resource, e.id);
	const bool is_inner =
		fold_reserved(task, probe, return_sp, e.id) || (!is_known && fold_call(task, probe, return_sp));

	entered_release(task, call_reserved(p, resource, e.id), is_inner);
	if (is_inner || fold_release(task, probe, return_sp, e.id) || count_bookkeeping(task, probe, e.id))
		return;
	e.function = called_as(task, probe);
	if (p->tracer->set->backtrace_all)
		event_stack(&e, task, frames, true);
	ledger_released(p->trace, &e);
}

/* Whether the older call, which has the same place on the stack, has come here by a jump (reallocarray -> realloc). A
 * call instruction that always calls the same function leaves no other way; where it may call this one itself,
 * both must mean the same block. */
static bool is_tail_call(struct process *p, const struct call *older, const struct probe *probe, const uint64_t *args)
{
	const struct function *outer = call_function(older), *inner = probe->wanted->function;

	return older->probe != probe && probe_same_kind(older->probe, probe) &&
	       (!older->site->is_computed ||
		(value_of(p, &outer->size, older->args, 0) == value_of(p, &inner->size, args, 0) &&
		 value_of(p, &outer->released, older->args, 0) == value_of(p, &inner->released, args, 0)));
}

/* A call at the same place on the stack as one in flight is a part of it if that has jumped here; else the older one
 * has never returned, and is dropped. */
static bool fold_tail_call(struct task *task, const struct probe *probe, uint64_t return_sp, uint64_t return_address,
			   const uint64_t *args)
{
	struct call *older = call_find(task->process, return_sp);

	if (!older)
		return false;
	if (older->return_address != return_address || !is_tail_call(task->process, older, probe, args)) {
		call_stale(task->process, older);
		return false;
	}
	older->inner = probe;
	older->inner_sp = return_sp;
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
		const uint64_t id = value_of(task->process, released, args, 0);

		if (id)
			reserve(task, call, id);
	}
}

/* This very hit was dealt with before a signal had to be delivered first. */
static bool take_redone(struct task *task, const struct breakpoint *b, uint64_t return_sp, const uint64_t *args)
{
	const struct function *f = b->probe->wanted->function;
	uint64_t return_address;

	if (!hit_redo(task, b, args))
		return false;
	if (f->role == ROLE_RELEASE && !f->can_fail)
		return true;
	const struct call *call = call_find(task->process, return_sp);

	return call && call->probe == b->probe && stack_return_address(task, false, &return_address) &&
	       call->return_address == return_address;
}

static void enter_call(struct task *task, const struct probe *probe, uint64_t return_sp, uint64_t return_address,
		       const uint64_t *args)
{
	struct process *p = task->process;
	bool is_call;

	if (fold_tail_call(task, probe, return_sp, return_address, args) ||
	    (task_newest_call(task) && fold_call(task, probe, return_sp)))
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
static bool wants_stack(const struct process *p, const struct function *f)
{
	const struct settings *set = p->tracer->set;

	return set->depth && !set->monitor_count && f->role != ROLE_RELEASE;
}

void call_enter(struct task *task, struct breakpoint *b)
{
	struct process *p = task->process;
	const struct function *f = b->probe->wanted->function;
	const uint64_t return_sp = p->arch->return_sp(&task->regs);
	uint64_t return_address, args[CALL_ARGS];

	task_args(task, args);
	if (take_redone(task, b, return_sp, args))
		return;
	if (f->role == ROLE_RELEASE && !f->can_fail)
		enter_release(task, b->probe, return_sp, args);
	else if (stack_return_address(task, wants_stack(p, f), &return_address))
		enter_call(task, b->probe, return_sp, return_address, args);
}

void call_watch(struct task *task, struct breakpoint *b)
{
	struct process *p = task->process;
	const uint64_t return_sp = p->arch->return_sp(&task->regs);
	uint64_t return_address, args[CALL_ARGS];
	bool is_call;

	task_args(task, args);
	if (b->probe->wanted->hook == HOOK_SIGACTION) {
		if (args[0] == SIGTRAP)
			sigtrap_set(task, args[1]);
		return;
	}
	if (!stack_return_address(task, false, &return_address) || call_find(p, return_sp))
		return;
	struct breakpoint *site = return_site(p, return_address, &is_call);

	if (site)
		call_begin(task, b->probe, return_sp, args, site);
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
	const struct function *f = call_function(call);
	const uint64_t result = p->arch->result(&task->regs);
	bool ok = value_is_success(f, result, p->arch->pointer_size);
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
	e.id = value_of(p, &f->id, call->args, result);
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
	stack_recall(task, call);
	call_unlink(p, call);
	if (probe_is_hook(call->probe))
		watched_return(task, call);
	else
		call_finish(task, call);
	call_free(p, call);
}
