#include "config.h"
#include "tracer/model.h"

/* Calls inside of calls: one event each, but for those that another traced function makes for its own sake (calloc
 * that calls malloc, delete that jumps to free, what an allocator keeps for itself). */

#define FOLD_ROWS 6 /* frames from an inner function to its outer one, both counted */

/* What is watched for the tracer's own sake is nothing that a module knows. */
static const struct function watched = {.role = ROLE_CALL, .success = OK_ALWAYS};

bool is_watched(const struct probe *probe)
{
	return probe->wanted->hook || probe->is_resolver;
}

const struct function *function_of(const struct call *call)
{
	return is_watched(call->probe) ? &watched : call->probe->wanted->function;
}

bool same_kind(const struct probe *a, const struct probe *b)
{
	return a->wanted->resource == b->wanted->resource && !is_watched(a) && !is_watched(b);
}

enum nesting { NESTED_NO, NESTED_FOLD, NESTED_APART };

/* Whether this entry happens inside the outer call, told by unwinding to its frame. If the walk gets
 * past the place where that frame would be, the outer call is over without a return (a throw, a
 * longjmp): it is stale. */
static enum nesting nested_in(struct task *task, const struct call *outer, bool *stale)
{
	struct unwind_frame frames[MAX_FRAMES];
	bool cut = false, signal = false;
	size_t count = stack_walk(task, frames, MAX_FRAMES, outer->return_sp, &cut);

	*stale = false;
	if (!count || frames[count - 1].cfa < outer->return_sp)
		return NESTED_NO;
	if (frames[count - 1].cfa != outer->return_sp) {
		*stale = true;
		return NESTED_NO;
	}
	for (size_t i = 0; i < count; i++)
		signal |= frames[i].signal;
	if (count > FOLD_ROWS || signal)
		return NESTED_APART;
	/* Frames between the two must be such functions too (new[] -> new -> malloc): what a handler of the
	 * program allocates, or a throw for its exception, is not the outer call's block. */
	for (size_t i = 1; i + 1 < count; i++) {
		const struct probe *between = probe_around(task->process, frames[i].pc);

		if (!between || !same_kind(between, outer->probe))
			return NESTED_APART;
	}
	return NESTED_FOLD;
}

/* Whether one call can be a part of the other at all: no allocation releases anything (a free() under a failing
 * new is that of its exception). */
static bool can_hold(const struct call *outer, const struct probe *inner)
{
	return same_kind(outer->probe, inner) &&
	       (inner->wanted->function->role != ROLE_RELEASE ||
		function_of(outer)->role != ROLE_ALLOC);
}

/* Called from the code of a function of the same kind, which is in flight or has been folded itself. */
static bool called_by_kin(struct task *task, const struct probe *probe, uint64_t return_sp)
{
	const struct probe *caller;
	uint64_t return_address;

	for (const struct call *outer = task->calls; outer; outer = outer->next) {
		if (outer->return_sp <= return_sp || !can_hold(outer, probe))
			continue;
		if (!stack_return_address(task, false, &return_address))
			return false;
		caller = probe_around(task->process, return_address);
		return caller && same_kind(caller, probe);
	}
	return false;
}

/* Whether the call that is being entered is an inner one of a call in flight of the same task. */
bool is_folded(struct task *task, const struct probe *probe, uint64_t return_sp)
{
	struct process *p = task->process;
	struct call *outer = task->calls;

	if (outer && called_by_kin(task, probe, return_sp))
		return true;
	while (outer) {
		struct call *next = outer->next;
		bool stale = false;

		if (outer->return_sp > return_sp) {
			const enum nesting nesting = nested_in(task, outer, &stale);

			if (nesting == NESTED_FOLD && can_hold(outer, probe))
				return true;
			if (nesting != NESTED_NO)
				return false;
			if (stale)
				call_stale(p, outer);
		}
		outer = next;
	}
	return false;
}

/* `delete` that calls or jumps to `free` is one release. Return addresses tell, but are read only in
 * processes where one such function can call another at all. */
bool is_same_release(struct task *task, const struct probe *probe, uint64_t return_sp, uint64_t id)
{
	struct last_release *last = &task->last_release;
	const struct last_release before = *last;
	uint64_t return_address = 0;

	if (task->process->release_probes > 1 && !stack_return_address(task, false, &return_address))
		return_address = 0;
	*last = (struct last_release){probe, return_sp, return_address, id};
	if (!before.probe || before.probe == probe || !same_kind(before.probe, probe) || !return_address)
		return false;
	/* Allocated again since, by whomever: it is another block at the same address. */
	if (ledger_knows(task->process, probe->wanted->resource, id))
		return false;
	if (before.sp == return_sp)
		return before.return_address == return_address && before.id == id;
	if (before.sp < return_sp || return_address <= before.probe->start ||
	    return_address > before.probe->start + before.probe->size)
		return false;
	return true; /* the same block, or what that function made of its address */
}

/* glibc frees its thread cache by its own free() when a thread ends, but never got it from malloc(). */
bool is_bookkeeping(struct task *task, const struct probe *probe, uint64_t id)
{
	struct process *p = task->process;
	uint64_t return_address;

	if (p->attached || probe->object == p->program ||
	    ledger_knows(p, probe->wanted->resource, id) ||
	    !stack_return_address(task, false, &return_address) ||
	    objects_find(&p->objects, return_address) != probe->object)
		return false;
	p->counts.internal++;
	return true;
}
