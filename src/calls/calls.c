#include "config.h"
#include "calls/calls.h"
#include "calls/probes/alias.h"
#include "calls/arguments.h"
#include "record/ledger.h"
#include "breakpoints/breakpoints.h"
#include "base/util.h"
#include "uprobe/uprobes.h"

#include <stdlib.h>
#include <string.h>

/* A call in flight is found by the sp with which it will return, and identified by that sp and its return address,
 * never by order or by thread. So exceptions, longjmp, coroutines that move between threads and switched stacks do not
 * confuse calls with each other. Calls that end at the same return form a list (`older`, `newer`). */

struct calls *calls_new(void)
{
	struct calls *calls = xcalloc(1, sizeof(*calls));

	calls->stack_want = 2048;
	return calls;
}

void calls_free(struct process *p)
{
	hash_free(&p->calls->by_sp);
	hash_free(&p->calls->inner_blocks);
	unwinder_free(p->unwinder);
	p->unwinder = NULL;
	free(p->calls);
	p->calls = NULL;
}

struct task_calls *task_calls_new(struct task *task)
{
	task->calls = xcalloc(1, sizeof(*task->calls));
	task->calls->thread = thread_new(task->tid, task->tgid);
	return task->calls;
}

static bool is_publisher(const struct call *call)
{
	return call->probe->function->publishes_early;
}

struct call *call_reserved_slow(const struct process *p, uint32_t resource, uint64_t id)
{
	struct reservation *release = ledger_reserved(p->trace, resource, id);

	return release ? release->owner : NULL;
}

/* ---- One call ---- */

/* Takes the spare call if there is one, which saves most calls of malloc(). */
static struct call *call_new(struct tracer *t)
{
	struct call *call = t->spare_call;

	t->spare_call = NULL;
	return call ? call : xmalloc(sizeof(*call));
}

/* Adds the call to the tables. is_newest: the call becomes the newest with its sp, else the oldest. */
static void enter_into_tables(struct process *p, struct call *call, bool is_newest)
{
	uint64_t *newest = hash_place(&p->calls->by_sp, call->return_sp);
	struct call *newer = is_newest ? NULL : (struct call *)(uintptr_t)*newest;

	while (newer && newer->older)
		newer = newer->older;
	call->newer = newer;
	call->older = newer ? NULL : (struct call *)(uintptr_t)*newest;
	if (call->older)
		call->older->newer = call;
	if (newer)
		newer->older = call;
	else
		*newest = (uintptr_t)call;
	p->calls->in_flight++;
	breakpoint_calls(call->site)->in_flight++;
	if (is_publisher(call))
		ledger_publisher_began(p->trace, call->probe->wanted->resource);
}

/* Counts a task's calls whose returns are seen by breakpoints, and tells the kernel's program whether there are any. */
static void note_breakpoint_call(const struct call *call, int change)
{
	struct task *const task = call->task;

	if (!task || call->by_kernel)
		return;
	task->calls->by_breakpoint += (unsigned)change;
	if (task->process && task->process->tracer->uprobes && task->calls->by_breakpoint == (change > 0))
		uprobe_set_outer(task->process->tracer->uprobes, task->tid, change > 0);
}

/* Adds a call at a place in the list of the task's calls. */
static struct call *add_at(struct task *task, struct call **place, const struct probe *probe,
			   const struct traced *traced, struct breakpoint *site, uint64_t return_sp)
{
	struct call *call = call_new(task->process->tracer);

	/* The caller sets the arguments. Of the reservation only is_open is set, because the other fields are read only
	 * if it is open. */
	call->task = task;
	call->next = *place;
	call->link = place;
	call->probe = probe;
	call->traced = traced;
	call->return_sp = return_sp;
	call->return_address = breakpoint_code(site);
	call->entered = task->at_stop;
	call->site = site;
	call->serial = call->inner_sp = call->made = 0;
	call->context = 0;
	call->next_context = NULL;
	call->context_link = NULL;
	call->is_elsewhere = false;
	call->by_kernel = task->calls->is_fed;
	note_breakpoint_call(call, 1);
	call->inner = NULL;
	call->shown = NULL;
	call->thread = NULL;
	call->range = NULL;
	call->part_of = NULL;
	call->inner_blocks = NULL;
	call->has_parts = false;
	call->has_made = call->made_is_reference = call->release.is_open = false;
	call->first_event = 0;
	if (call->next)
		call->next->link = &call->next;
	*place = call;
	enter_into_tables(task->process, call, place == &task->calls->newest);
	return call;
}

struct call *call_add(struct task *task, const struct probe *probe, const struct traced *traced,
		      struct breakpoint *site, uint64_t return_sp)
{
	return add_at(task, &task_calls(task)->newest, probe, traced, site, return_sp);
}

void call_set_context(struct process *p, struct call *call, uint32_t id)
{
	struct call **const newest = &call->task->calls->newest_context;

	if (!id)
		return;
	call->context = id;
	call->next_context = *newest;
	call->context_link = newest;
	if (*newest)
		(*newest)->context_link = &call->next_context;
	*newest = call;
	call->task->calls->context_stop = 0;
	p->calls->functions.mask |= id;
	p->calls->functions.counts[__builtin_ctz(id)]++;
}

static void unlink_context(struct call *call)
{
	if (!call->context_link)
		return;
	call->task->calls->context_stop = 0;
	*call->context_link = call->next_context;
	if (call->next_context)
		call->next_context->context_link = call->context_link;
	call->next_context = NULL;
	call->context_link = NULL;
}

static void context_ended(struct function_contexts *functions, struct call *call)
{
	unlink_context(call);
	if (call_is_context(call) && !--functions->counts[__builtin_ctz(call->context)])
		functions->mask &= ~call->context;
}

struct breakpoint_calls *breakpoint_calls_new(struct breakpoint *b)
{
	return b->calls = xcalloc(1, sizeof(*b->calls));
}

void breakpoint_calls_copy(struct breakpoint *b, const struct breakpoint *from)
{
	if (!from->calls)
		return;
	/* pin_watch.c watches no function in the child. If the parent's breakpoint was inserted only for pin_watch.c,
	 * the copy becomes a return site without calls, and is removed after some misses. */
	b->is_return |= from->calls->watched && !from->probe;
	breakpoint_calls(b)->is_computed = from->calls->is_computed;
	b->calls->misses = from->calls->misses;
}

static void unlink_from_task(struct call *call)
{
	if (!call->task)
		return;
	note_breakpoint_call(call, -1);
	*call->link = call->next;
	if (call->next)
		call->next->link = call->link;
}

static void unlink_from_sp(struct process *p, struct call *call)
{
	if (call->older)
		call->older->newer = call->newer;
	if (call->newer)
		call->newer->older = call->older;
	else if (call->older)
		hash_set_ptr(&p->calls->by_sp, call->return_sp, call->older);
	else
		hash_remove(&p->calls->by_sp, call->return_sp, NULL);
}

/* Clears part_of in the inner calls that are parts of this call. */
static void leave_parts(struct call *call)
{
	for (struct call *inner = task_newest_call(call->task); inner && inner != call; inner = inner->next)
		if (inner->part_of == call)
			inner->part_of = NULL;
}

void call_unlink(struct process *p, struct call *call)
{
	if (call->has_parts && call->task)
		leave_parts(call);
	unlink_from_sp(p, call);
	context_ended(&p->calls->functions, call);
	p->calls->in_flight--;
	call->site->calls->in_flight--;
	unlink_from_task(call);
}

void call_free(struct process *p, struct call *call)
{
	struct tracer *t = p->tracer;

	if (is_publisher(call))
		ledger_publisher_done(p->trace, call->probe->wanted->resource);
	call_arguments_free(call->shown);
	thread_unref(call->thread);
	free(t->spare_call);
	t->spare_call = call;
}

/* ---- Tasks ---- */

/* Detaches the calls in flight from a task that has ended or called execve (`executes`). Another task may complete
 * these calls (a coroutine that has moved to that task). */
static void drop_task(struct task *task, bool executes)
{
	struct call *next;

	for (struct call *call = task_newest_call(task); call; call = next) {
		next = call->next;
		note_breakpoint_call(call, -1);
		unlink_context(call);
		call->thread = call_is_recorded(call) ? thread_ref(task->calls->thread) : NULL;
		call->executes = executes;
		call->part_of = NULL;
		call->task = NULL;
		call->next = NULL;
		call->link = NULL;
	}
	if (!task->calls)
		return;
	task->calls->newest = NULL;
	free(task->calls->last_releases);
	task->calls->last_releases = NULL;
}

void task_calls_free(struct task *task, bool executes)
{
	if (!task->calls)
		return;
	drop_task(task, executes);
	thread_unref(task->calls->thread);
	free(task->calls->kept.bytes);
	free(task->calls->last_releases);
	free(task->calls);
	task->calls = NULL;
}

/* ---- Forks ---- */

/* Returns the probe of the same function in another process, or NULL. */
static const struct probe *same_probe(const struct process *p, const struct probe *probe)
{
	const struct probe_list *probes = p->probes;

	for (size_t i = 0; probe && i < probes->count; i++)
		if (probes->items[i]->wanted == probe->wanted && probes->items[i]->start == probe->start)
			return probes->items[i];
	return NULL;
}

static void reserve_copy(struct task *child, struct call *call, const struct reservation *from)
{
	struct event e = from->event;

	e.thread = child->calls->thread;
	e.function = call->traced;
	e.args = call->shown ? call->shown->list : NULL;
	e.frames = frames_copy(e.frames, e.frame_count);
	ledger_reserve(child->process->trace, &call->release, &e, call);
}

/* Adds a copy of the call at the end of the child's list of calls. */
static void call_copy(const struct call *from, struct task *child, struct call **end)
{
	struct process *p = child->process;
	const struct probe *probe = same_probe(p, from->probe);
	struct breakpoint *site = breakpoint_find(p, from->return_address);

	if (!probe || !site || !site->is_return)
		return;
	struct call *const call =
		add_at(child, end, probe, alias_in(from->probe, from->traced, probe), site, from->return_sp);

	call->entered = 0;
	if (call_is_context(from))
		call_set_context(p, call, from->context);
	else
		call->context = from->context;
	memcpy(call->args, from->args, sizeof(call->args));
	call->shown = call_arguments_copy(from->shown);
	call->inner = same_probe(p, from->inner);
	call->inner_sp = from->inner_sp;
	call->made = from->made;
	call->has_made = from->has_made;
	/* Event numbers of the parent's trace mean nothing in the child's. So the comparison with first_event, which
	 * was_made_within() makes at a call's return, is made now with the parent's numbers. The copy's first_event
	 * stays 0. */
	call->made_is_reference =
		from->made_is_reference && ledger_made_by(from->task->process->trace, from->probe->wanted->resource,
							  from->made) >= from->first_event;
	if (from->release.is_open)
		reserve_copy(child, call, &from->release);
}

void calls_fork(const struct task *maker, struct task *child)
{
	struct call **end = &task_calls(child)->newest;

	for (const struct call *from = task_newest_call(maker); from; from = from->next) {
		call_copy(from, child, end);
		if (*end)
			end = &(*end)->next;
	}
}
