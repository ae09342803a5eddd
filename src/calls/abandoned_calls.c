#include "config.h"
#include "calls/abandoned_calls.h"
#include "calls/arguments.h"
#include "calls/backtrace.h"
#include "calls/nested_blocks.h"
#include "calls/probes/alias.h"
#include "calls/range_release.h"
#include "record/ledger.h"
#include "record/remarks.h"
#include "breakpoints/out_of_line_slots.h"
#include "ptrace/tasks.h"
#include "base/msg.h"
#include "base/util.h"

#include <stdlib.h>

/* distance below sp, in bytes, in which abandoned calls of the same stack are searched for */
#define ABANDONED_MAX (1u << 20)

/* ---- One call ---- */

static struct thread *calls_thread_of(const struct call *call)
{
	return call->task ? call->task->calls->thread : call->thread;
}

/* Writes a note in place of the event that would have been written at the call's return. In a fork's child, calls from
 * before the fork get no note, because they return in the parent. */
static void remark(struct process *p, const struct call *call, const char *why)
{
	const struct event e = {.thread = calls_thread_of(call),
				.function = call->traced,
				.args = call->shown ? call->shown->list : NULL};

	if (call->entered || !p->trace->origin.forked_by)
		remark_no_return(p->trace, &e,
				 call->task       ? why
				 : call->executes ? "its thread executes another program"
						  : "its thread has ended");
}

static void call_drop(struct process *p, struct call *call)
{
	call_unlink(p, call);
	inner_write_all(p, call);
	p->trace->counts.withdrawn += call->release.is_open + range_open(call);
	ledger_withdraw(p->trace, &call->release);
	range_end(p, call, NULL);
	call_free(p, call);
}

void call_abandon(struct process *p, struct call *call)
{
	msg_debug(DBG_CALL, 1, "%s never returned (sp 0x%llx)", call->traced->shown,
		  (unsigned long long)call->return_sp);
	if (call_is_recorded(call))
		remark(p, call, "it has ended otherwise (an exception, longjmp)");
	/* Does not count a call of a function that is watched only for the tracer's own use, because no event of it is
	 * missing. */
	p->trace->counts.abandoned += !probe_is_hook(call->probe);
	call_drop(p, call);
}

/* ---- Calls that an exception or longjmp has left ---- */

/* Returns true if the call returns a little below sp, so that it was on the part of the stack that was left. */
static bool is_a_little_below(const struct call *call, uint64_t sp)
{
	return call->return_sp < sp && sp - call->return_sp < ABANDONED_MAX;
}

void calls_abandoned_at_site(struct task *task, const struct breakpoint *b, uint64_t sp)
{
	for (struct call *call = task_newest_call(task), *next; call; call = next) {
		next = call->next;
		if (call->site == b && is_a_little_below(call, sp))
			call_abandon(task->process, call);
	}
}

/* Returns true if a walk of the task's stack finds the frame to which the call returns. Also returns true if the walk
 * does not reach the outermost frame, because then the call may still be on the stack. */
static bool is_on_stack(struct task *task, const struct call *call)
{
	struct unwind_frame frames[MAX_FRAMES];
	bool cut = false;
	const size_t count = stack_walk(task, frames, MAX_FRAMES, 0, &cut);

	for (size_t i = 0; i + 1 < count; i++)
		if (frames[i].cfa == call->return_sp && frames[i + 1].pc == call->return_address)
			return true;
	return cut || count == MAX_FRAMES;
}

void calls_abandoned_below(struct task *task, uint64_t sp)
{
	struct process *p = task->process;

	for (struct call *call = call_find(p, sp), *older; call; call = older) {
		older = call->older;
		call_abandon(p, call);
	}
	/* Memory below the exception handler's sp may be another stack with calls in flight: the stack that a signal
	 * interrupted, if the signal handler runs on an alternate stack. So a call is dropped only if a walk of the
	 * task's stack does not find it. */
	for (struct call *call = task_newest_call(task), *next; call; call = next) {
		next = call->next;
		if (is_a_little_below(call, sp) && !is_on_stack(task, call))
			call_abandon(p, call);
	}
}

/* ---- Calls whose code is unloaded, or that functrace leaves ---- */

/* Returns true if the breakpoint that is dropped is the entry or the return site of the call. */
static bool ends_with(const struct call *call, const struct breakpoint *b)
{
	return call->site == b || probe_is_at(call->probe, b);
}

/* Sorts by thread, then from inner to outer calls. */
static int compare_calls(const void *a, const void *b)
{
	const struct call *const one = *(struct call *const *)a, *const other = *(struct call *const *)b;
	const struct thread *const its = calls_thread_of(one), *const others = calls_thread_of(other);
	const pid_t tid = its ? its->tid : 0, other_tid = others ? others->tid : 0;

	if (tid != other_tid)
		return tid < other_tid ? -1 : 1;
	return compare_u64(one->return_sp, other->return_sp);
}

/* If a thread has recursed to the end of its stack, notes about this many innermost calls are enough. */
#define REMARKS_MAX 100

static void remark_all(struct process *p, struct call **gone, size_t count, const char *why)
{
	size_t first = 0, recorded = 0;

	for (size_t i = 0; i < count; i++)
		if (call_is_recorded(gone[i]) && (gone[i]->entered || !p->trace->origin.forked_by))
			recorded++;
	if (!recorded)
		return;
	qsort(gone, count, sizeof(*gone), compare_calls);
	recorded = 0;
	for (size_t i = 0; i <= count; i++) {
		if (i == count || calls_thread_of(gone[i]) != calls_thread_of(gone[first])) {
			if (recorded > REMARKS_MAX)
				remark_more(p->trace, calls_thread_of(gone[first]), recorded - REMARKS_MAX);
			first = i;
			recorded = 0;
		}
		if (i < count && call_is_recorded(gone[i]) && ++recorded <= REMARKS_MAX)
			remark(p, gone[i], why);
	}
}

/* Drops the calls of a breakpoint, or all calls if b is NULL. Makes one pass over the table, because hundreds of
 * thousands of calls can be in flight. */
static void drop_calls_of(struct process *p, const struct breakpoint *b, const char *why)
{
	struct call **gone = NULL;
	size_t count = 0, capacity = 0;
	const struct hash_entry *entry;

	for (size_t i = 0; (entry = hash_next(&p->calls->by_sp, &i));)
		for (struct call *call = (struct call *)(uintptr_t)entry->value; call; call = call->older) {
			if (b && probe_is_at(call->inner, b))
				call->inner = NULL;
			if (b && !ends_with(call, b))
				continue;
			ARRAY_GROW(gone, capacity, count);
			gone[count++] = call;
		}
	remark_all(p, gone, count, why);
	for (size_t i = 0; i < count; i++)
		call_drop(p, gone[i]);
	free(gone);
}

void calls_drop_all(struct process *p)
{
	drop_calls_of(p, NULL, "the call goes on after the trace");
}

static void forget_release(struct task *task, const struct probe *probe)
{
	struct last_release *last = &task->calls->last_releases[probe->wanted->resource];

	if (last->outer.probe == probe)
		last->outer.probe = NULL;
	if (last->inner.probe == probe)
		last->inner.probe = NULL;
	for (unsigned i = 0; i < last->jumps; i++)
		if (last->jumped[i] == probe)
			last->jumped[i] = NULL;
}

static void forget_function(struct process *p, const struct probe *probe)
{
	inner_forget_function(p, &probe->traced);
	ledger_forget_function(p->trace, &probe->traced);
	for (const struct alias *alias = probe->aliases; alias; alias = alias->next) {
		inner_forget_function(p, &alias->traced);
		ledger_forget_function(p->trace, &alias->traced);
	}
}

void calls_drop_site(struct process *p, const struct breakpoint *b)
{
	if (p->calls->by_sp.count)
		drop_calls_of(p, b, "its code has been unloaded");
	for (const struct probe *probe = b->probe; probe; probe = probe->next) {
		forget_function(p, probe);
		FOR_EACH_TASK(task, p)
			if (task->calls && task->calls->last_releases)
				forget_release(task, probe);
	}
	FOR_EACH_TASK(task, p)
		hits_forget(task, b);
}
