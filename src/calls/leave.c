#include "config.h"
#include "calls/leave.h"
#include "calls/probes.h"
#include "calls/stack.h"
#include "calls/values.h"
#include "record/ledger.h"
#include "record/output.h"
#include "text/breakpoints.h"

/* The return of a call: what it has allocated is written, and what it released if it has succeeded. */

#define MISSES_MAX    64         /* hits of a return site without a call before it is taken out */
#define ABANDONED_MAX (1u << 20) /* how far below sp an abandoned call of the same stack is looked for */

/* An IFUNC's resolver returns: what it has chosen is the function. */
static void resolver_returned(struct task *task, const struct call *call)
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
	const bool ok = value_is_success(p, f, result);
	struct unwind_frame frames[MAX_FRAMES + 2];
	struct event e = {
		.thread = task_calls(task)->thread, .function = call->traced, .time_ns = output_time(p->trace)};

	e.size = value_of(p, &f->size, call->args, result);
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
	stack_of_event(&e, task, frames, false);
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
	struct breakpoint_calls *site = breakpoint_calls(b);

	for (struct call *call = task_newest_call(task), *next; call; call = next) {
		next = call->next;
		if (call->site == b && call->return_sp < sp && sp - call->return_sp < ABANDONED_MAX)
			call_stale(p, call);
	}
	if (++site->misses >= MISSES_MAX && !site->in_flight && !b->probe) {
		p->trace->counts.retired++;
		site->misses = 0;
		breakpoint_remove(p, b);
	}
}

static void call_done(struct task *task, struct call *call)
{
	stack_recall(task, call);
	call_unlink(task->process, call);
	if (probe_is_hook(call->probe))
		resolver_returned(task, call);
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
	b->calls->misses = 0;
	for (struct call *older; call; call = older) {
		older = call->older;
		call_done(task, call);
	}
}

/* ---- Exceptions ---- */

/* The frames of the task lead to where the call returns to. */
static bool is_on_stack(struct task *task, const struct call *call)
{
	struct unwind_frame frames[MAX_FRAMES];
	bool cut = false;
	const size_t count = stack_walk(task, frames, MAX_FRAMES, 0, &cut);

	for (size_t i = 0; i + 1 < count; i++)
		if (frames[i].cfa == call->return_sp && frames[i + 1].pc == call->return_address)
			return true;
	return cut;
}

void calls_left(struct task *task, uint64_t sp)
{
	struct process *p = task->process;

	for (struct call *call = call_find(p, sp), *older; call; call = older) {
		older = call->older;
		call_stale(p, call);
	}
	/* Below the handler may be another stack as well, on which calls go on: that which a signal has interrupted,
	 * where the signal's handler has a stack of its own. */
	for (struct call *call = task_newest_call(task), *next; call; call = next) {
		next = call->next;
		if (call->return_sp < sp && sp - call->return_sp < ABANDONED_MAX && !is_on_stack(task, call))
			call_stale(p, call);
	}
}
