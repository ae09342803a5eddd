#include "config.h"
#include "tracer/model.h"
#include "base/msg.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Calls from entry to return. In-flight calls are keyed by the sp that their return will have, and matched by equality
 * of it and of the return address: never by order, never by thread, so exceptions, longjmp,
 * coroutines that move between threads and switched stacks cannot confuse one call with another. */

#define MISSES_MAX    64         /* hits of a return site without a call before it is taken out */
#define ABANDONED_MAX (1u << 20) /* how far below sp an abandoned call of the same stack is looked for */

static bool publishes(const struct call *call)
{
	return function_of(call)->publishes_early;
}

/* A program with few calls at once needs no malloc() for them. */
static struct call *call_new(struct tracer *t)
{
	struct call *call = t->spare_call;

	t->spare_call = NULL;
	return call ? call : xmalloc(sizeof(*call));
}

static void call_free(struct tracer *t, struct call *call)
{
	free(t->spare_call);
	t->spare_call = call;
}

static void unlink_from_task(struct call *call)
{
	if (!call->task)
		return;
	*call->link = call->next;
	if (call->next)
		call->next->link = call->link;
}

/* Enters a new call of a task into the tables. */
static void call_count(struct process *p, struct call *call)
{
	hash_set_ptr(&p->calls, call->return_sp, call);
	p->calls_in_flight++;
	call->site->in_flight++;
	if (publishes(call))
		p->publishers++;
}

/* Takes a call out of all tables; the caller frees it. */
static void call_unlink(struct process *p, struct call *call)
{
	hash_remove(&p->calls, call->return_sp, NULL);
	p->calls_in_flight--;
	if (call->site)
		call->site->in_flight--;
	unlink_from_task(call);
}

static void call_drop(struct process *p, struct call *call)
{
	call_unlink(p, call);
	if (call->reserved) {
		ledger_withdraw(p, call);
		p->counts.withdrawn++;
	}
	if (publishes(call)) {
		p->publishers--;
		ledger_publisher_done(p);
	}
	call_free(p->tracer, call);
}

void call_stale(struct process *p, struct call *call)
{
	msg_debug(DBG_CALL, 1, "%s never returned (sp 0x%llx)", call->probe->shown,
		  (unsigned long long)call->return_sp);
	p->counts.stale++;
	call_drop(p, call);
}

void calls_drop_task(struct task *task)
{
	while (task->calls) {
		struct call *call = task->calls;

		/* Another task may complete it: a coroutine that has moved on. Keep it, without an owner. */
		task->calls = call->next;
		call->task = NULL;
		call->next = NULL;
		call->link = NULL;
	}
}

/* ---- Forks ---- */

/* The same function in another process's tables. */
static const struct probe *same_probe(const struct process *p, const struct probe *probe)
{
	for (size_t i = 0; probe && i < p->probe_count; i++)
		if (p->probes[i]->wanted == probe->wanted && p->probes[i]->start == probe->start)
			return p->probes[i];
	return NULL;
}

static void call_copy(const struct call *from, struct task *child, struct call **link)
{
	struct process *p = child->process;
	const struct probe *probe = same_probe(p, from->probe);
	struct breakpoint *site = breakpoint_find(p, from->return_address);

	if (!probe || !site || !site->is_return)
		return;
	struct call *call = call_new(p->tracer);

	*call = *from;
	call->task = child;
	call->probe = probe;
	call->inner = same_probe(p, from->inner);
	call->site = site;
	call->serial = 0;
	call->next = NULL;
	call->link = link;
	call->frames = frames_copy(from->frames, from->frames ? from->frame_count : 0);
	*link = call;
	call_count(p, call);
	if (from->reserved)
		ledger_reserve(p, call, from->released);
}

void calls_fork(const struct task *maker, struct task *child)
{
	struct call **end = &child->calls;

	if (!maker->calls)
		return;
	process_own(child->process);
	for (const struct call *from = maker->calls; from; from = from->next) {
		call_copy(from, child, end);
		if (*end)
			end = &(*end)->next;
	}
}

/* Drops the calls of a site or probe, or all of them: in one pass, for there can be hundreds of thousands. */
static void drop_calls_of(struct process *p, const struct breakpoint *b)
{
	struct call **gone = NULL;
	size_t count = 0, capacity = 0;
	const struct hash_entry *entry;

	for (size_t i = 0; (entry = hash_next(&p->calls, &i));) {
		struct call *call = (struct call *)(uintptr_t)entry->value;

		if (b && b->probe && call->inner == b->probe)
			call->inner = NULL;
		if (b && call->site != b && (!b->probe || call->probe != b->probe))
			continue;
		ARRAY_GROW(gone, capacity, count);
		gone[count++] = call;
	}
	for (size_t i = 0; i < count; i++)
		call_drop(p, gone[i]);
	free(gone);
}

void calls_drop_all(struct process *p)
{
	drop_calls_of(p, NULL);
}

void calls_drop_site(struct process *p, const struct breakpoint *b)
{
	const struct hash_entry *entry;

	if (p->calls.count)
		drop_calls_of(p, b);
	if (b->probe)
		ledger_forget_probe(p, b->probe);
	for (size_t i = 0; (entry = hash_next(&p->tracer->tasks, &i));) {
		struct task *task = (struct task *)(uintptr_t)entry->value;

		for (size_t j = 0; j < UNDONE_MAX; j++)
			if (task->undone[j].breakpoint == b)
				task->undone[j].breakpoint = NULL;
		if (b->probe && task->last_release.outer.probe == b->probe)
			task->last_release.outer.probe = NULL;
		if (b->probe && task->last_release.inner.probe == b->probe)
			task->last_release.inner.probe = NULL;
	}
}

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
static void event_stack(struct event *e, struct unwind_frame frames[MAX_FRAMES + 2], bool at_entry)
{
	const struct settings *set = e->task->process->tracer->set;
	bool cut = false;

	if (!set->depth || !size_monitored(set, e->size))
		return;
	size_t count = stack_walk(e->task, frames, set->depth + 1 + at_entry, 0, &cut);

	if (at_entry && count) {
		frames++;
		count--;
	}
	e->end = count > set->depth ? STACK_CUT : cut ? STACK_LOST : STACK_WHOLE;
	e->frames = frames;
	e->frame_count = count > set->depth ? set->depth : count;
	e->has_frames = true;
}

/* ---- Values ---- */

static uint64_t value_of(struct process *p, const struct value *value, const uint64_t *args, uint64_t result)
{
	uint64_t word = 0;

	switch (value->kind) {
	case VALUE_ARG:
		return args[value->a];
	case VALUE_RESULT:
		return result;
	case VALUE_ARG_TIMES:
		return mul_saturated(args[value->a], args[value->b]);
	case VALUE_POINTEE:
		memory_read_pointer(p, args[value->a], &word);
		return word;
	case VALUE_CONST:
		return value->a;
	case VALUE_ARG_PAGES:
		return add_saturated(args[value->a], 4095) & ~4095ull;
	default:
		return 0;
	}
}

static bool succeeded(const struct function *f, uint64_t result, unsigned pointer_size)
{
	const uint64_t minus_1 = pointer_size == 8 ? UINT64_MAX : UINT32_MAX;

	switch (f->success) {
	case OK_NONZERO:
		return result != 0;
	case OK_ZERO:
		return (uint32_t)result == 0;
	case OK_NOT_MINUS_1:
		return result != minus_1 && (uint32_t)result != UINT32_MAX;
	default:
		return true;
	}
}

/* ---- Entry ---- */

/* The return site's breakpoint. A function's entry can be reached without a call (a loop's head):
 * then the word on the stack is no return address, and nothing may be written there. */
static struct breakpoint *return_site(struct process *p, uint64_t address, bool *is_call)
{
	struct breakpoint *b = breakpoint_find(p, address);
	unsigned char before[16];
	size_t size = sizeof(before);

	*is_call = true;
	if (b && b->is_return)
		return breakpoint_refresh(p, b) ? b : breakpoint_insert(p, address);
	const struct object *object = objects_find(&p->objects, address);

	int error = memory_read(p, address - size, before, size);

	/* The call may be the first code of its mapping, with nothing in the page before. */
	if (error < 0 && (address & 4095) && (address & 4095) < size) {
		size = address & 4095;
		error = memory_read(p, address - size, before, size);
	}
	if (error < 0) {
		*is_call = object != NULL;
		return NULL;
	}
	for (size_t i = 0; i < size; i++) {
		const struct breakpoint *other = breakpoint_find(p, address - size + i);

		if (other && other->inserted)
			before[i] = other->original[0];
	}
	const enum arch_call kind = p->arch->follows_call(address, before, size);

	*is_call = kind != CALL_NONE;
	if (!*is_call)
		return NULL;
	b = breakpoint_insert(p, address);
	if (b) {
		b->is_return = true;
		b->is_computed = kind == CALL_COMPUTED;
	}
	return b;
}

static void enter_release(struct task *task, const struct probe *probe, uint64_t return_sp, const uint64_t *args)
{
	struct unwind_frame frames[MAX_FRAMES + 2];
	const struct function *f = probe->wanted->function;
	struct event e = {.task = task, .probe = probe, .time_ns = output_time(task->process)};

	e.id = value_of(task->process, &f->id, args, 0);
	if (!e.id && f->success == OK_NONZERO)
		return; /* free(NULL) */
	struct process *p = task->process;
	/* A block that is allocated is released here, by whomever; but what a realloc releases is its own. */
	const bool is_known =
		ledger_knows(p, probe->wanted->resource, e.id) && !(p->reserved.count && hash_get(&p->reserved, e.id));
	const bool is_inner =
		fold_reserved(task, probe, return_sp, e.id) || (!is_known && fold_call(task, probe, return_sp));

	if (p->reserved.count)
		ledger_entered_release(p, task, e.id, is_inner);
	if (is_inner || fold_release(task, probe, return_sp, e.id) || count_bookkeeping(task, probe, e.id))
		return;
	if (p->tracer->set->backtrace_all)
		event_stack(&e, frames, true);
	ledger_released(p, &e);
}

/* Whether the older call, which has the same place on the stack, has come here by a jump (reallocarray -> realloc). A
 * call instruction that always calls the same function leaves no other way; where it may call this one itself,
 * both must mean the same block. */
static bool is_tail_call(struct process *p, const struct call *older, const struct probe *probe, const uint64_t *args)
{
	const struct function *outer = function_of(older), *inner = probe->wanted->function;

	return older->probe != probe && same_kind(older->probe, probe) &&
	       (!older->site->is_computed ||
		(value_of(p, &outer->size, older->args, 0) == value_of(p, &inner->size, args, 0) &&
		 value_of(p, &outer->released, older->args, 0) == value_of(p, &inner->released, args, 0)));
}

/* A call at the same place on the stack as one in flight is a part of it if that has jumped here; else the older one
 * has never returned, and is dropped. */
static bool fold_tail_call(struct task *task, const struct probe *probe, uint64_t return_sp, uint64_t return_address,
			   const uint64_t *args)
{
	struct call *older = hash_get_ptr(&task->process->calls, return_sp);

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

/* -A: the stack at the entry of what may turn out to release. */
static void keep_release_stack(struct task *task, struct call *call)
{
	struct unwind_frame frames[MAX_FRAMES + 2];
	struct event e = {.task = task};

	event_stack(&e, frames, true);
	call->frames = frames_copy(e.frames, e.frame_count);
	call->frame_count = e.frame_count;
	call->end = e.end;
}

static void call_add(struct task *task, const struct probe *probe, uint64_t return_sp, uint64_t return_address,
		     const uint64_t *args, struct breakpoint *site)
{
	struct process *p = task->process;
	struct call *call = call_new(p->tracer);

	*call = (struct call){.task = task,
			      .next = task->calls,
			      .probe = probe,
			      .return_sp = return_sp,
			      .return_address = return_address,
			      .site = site};
	memcpy(call->args, args, sizeof(call->args));
	stack_keep(task, call);
	const struct function *f = function_of(call);

	call->link = &task->calls;
	if (call->next)
		call->next->link = &call->next;
	task->calls = call;
	call_count(p, call);
	const struct value *released = f->role == ROLE_REALLOC ? &f->released : &f->id;

	if (f->role == ROLE_REALLOC || f->role == ROLE_RELEASE) {
		const uint64_t id = value_of(p, released, args, 0);

		if (id) {
			call->time_ns = output_time(p);
			ledger_reserve(p, call, id);
			if (p->tracer->set->backtrace_all)
				keep_release_stack(task, call);
		}
	}
}

/* This very hit was dealt with before a signal had to be delivered first. */
static bool seen_before(struct task *task, const struct breakpoint *b, uint64_t return_sp, const uint64_t *args)
{
	const uint64_t sp = task->process->arch->sp(&task->regs);

	for (size_t i = 0; i < UNDONE_MAX; i++) {
		struct undone *undone = &task->undone[i];

		if (undone->breakpoint != b || undone->sp != sp)
			continue;
		undone->breakpoint = NULL;
		if (memcmp(undone->args, args, sizeof(undone->args)))
			return false;
		if (b->probe->wanted->function->role == ROLE_RELEASE && !b->probe->wanted->function->can_fail)
			return true;
		const struct call *call = hash_get_ptr(&task->process->calls, return_sp);
		uint64_t return_address;

		return call && call->probe == b->probe && stack_return_address(task, false, &return_address) &&
		       call->return_address == return_address;
	}
	return false;
}

static void enter_call(struct task *task, const struct probe *probe, uint64_t return_sp, uint64_t return_address,
		       const uint64_t *args)
{
	struct process *p = task->process;
	bool is_call;

	if (fold_tail_call(task, probe, return_sp, return_address, args) ||
	    (task->calls && fold_call(task, probe, return_sp)))
		return;
	struct breakpoint *site = return_site(p, return_address, &is_call);

	if (!is_call)
		p->counts.not_calls++;
	else if (!site)
		p->counts.no_return_seen++;
	else
		call_add(task, probe, return_sp, return_address, args, site);
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
	if (seen_before(task, b, return_sp, args))
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
	if (!stack_return_address(task, false, &return_address) || hash_get(&p->calls, return_sp))
		return;
	struct breakpoint *site = return_site(p, return_address, &is_call);

	if (site)
		call_add(task, b->probe, return_sp, return_address, args, site);
}

/* ---- Return ---- */

static void watched_return(struct task *task, const struct call *call)
{
	struct process *p = task->process;
	const uint64_t result = p->arch->result(&task->regs);

	struct object *object = objects_find(&p->objects, result);

	if (object)
		probe_at(p, &(struct probe){.wanted = call->probe->wanted,
					    .shown = call->probe->shown,
					    .start = result,
					    .object = object});
}

static void call_finish(struct task *task, struct call *call)
{
	struct process *p = task->process;
	const struct function *f = function_of(call);
	const uint64_t result = p->arch->result(&task->regs);
	bool ok = succeeded(f, result, p->arch->pointer_size);
	struct unwind_frame frames[MAX_FRAMES + 2];
	struct event e = {.task = task, .probe = call->probe, .time_ns = output_time(p)};

	e.size = value_of(p, &f->size, call->args, result);
	/* No such block can be. The call has ended by an exception, and another function, called by the same
	 * instruction, returns here. */
	if (e.size > p->arch->address_max && call->site->is_computed)
		ok = false;
	if (call->reserved) {
		if (ok || (f->role == ROLE_REALLOC && f->zero_size_releases && !e.size))
			ledger_commit(p, call);
		else
			ledger_withdraw(p, call);
	}
	if (f->role == ROLE_RELEASE || !ok)
		return;
	e.id = value_of(p, &f->id, call->args, result);
	/* The block has an event already, of a call within this one that was not known to be a part of it. */
	if (call->has_made && call->made == e.id && ledger_knows(p, call->probe->wanted->resource, e.id))
		return;
	event_stack(&e, frames, false);
	if (f->role == ROLE_CALL) {
		ledger_call(p, &e);
		return;
	}
	ledger_allocated(p, &e);
	for (struct call *outer = task->calls; outer; outer = outer->next)
		if (same_kind(outer->probe, call->probe)) {
			outer->made = e.id;
			outer->has_made = true;
		}
}

/* A return site was reached by another way than a traced call's return: that costs the target a
 * stop for nothing, so a hot one is taken out until the next call wants it. */
static void site_missed(struct task *task, struct breakpoint *b, uint64_t sp)
{
	struct process *p = task->process;

	for (struct call *call = task->calls, *next; call; call = next) {
		next = call->next;
		if (call->site == b && call->return_sp < sp && sp - call->return_sp < ABANDONED_MAX)
			call_stale(p, call);
	}
	if (++b->misses >= MISSES_MAX && !b->in_flight && !b->probe) {
		p->counts.retired++;
		b->misses = 0;
		breakpoint_remove(p, b);
	}
}

void call_return(struct task *task, struct breakpoint *b)
{
	struct process *p = task->process;
	const uint64_t sp = p->arch->sp(&task->regs);
	struct call *call = hash_get_ptr(&p->calls, sp);

	if (!call || call->return_address != b->address) {
		site_missed(task, b, sp);
		return;
	}
	b->misses = 0;
	stack_recall(task, call);
	call_unlink(p, call);
	if (is_watched(call->probe))
		watched_return(task, call);
	else
		call_finish(task, call);
	if (publishes(call)) {
		p->publishers--;
		ledger_publisher_done(p);
	}
	call_free(p->tracer, call);
}
