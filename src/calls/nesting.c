#include "config.h"
#include "calls/nesting.h"
#include "calls/abandoned_calls.h"
#include "calls/backtrace.h"
#include "record/resource_ids.h"
#include "record/ledger.h"
#include "breakpoints/breakpoints.h"

#include <string.h>

/* Handles calls that are made inside other calls. Each call is an event of its own, except a call that another traced
 * function makes as part of its work (calloc calls malloc, delete jumps to free), and a release of an allocator's own
 * data. */

enum nesting {
	NESTED_NO,
	NESTED_FOLD,  /* a part of the outer call */
	NESTED_APART, /* inside the outer call, but not a part of it: an event of its own */
	NESTED_OVER,  /* the outer call has ended without a return (an exception, a longjmp) */
};

/* Returns true if a call of the inner function's kind may be a part of a call of the outer function. */
static bool may_hold_kind(const struct probe *outer, const struct probe *inner)
{
	if (probe_same_kind(outer, inner))
		return !inner->wanted->kind->is_nested;
	return !probe_is_hook(outer) && !probe_is_hook(inner) && outer->wanted->module == inner->wanted->module &&
	       outer->wanted->kind->folds_in_object && inner->wanted->kind->folds_in_object;
}

/* Returns true if a frame with this pc may belong to the outer call: the pc is in a traced function of the same kind
 * or, for a kind with folds_in_object, in the library of the outer function. If a preloaded library's function
 * (mkstemp) calls the function that it replaces, the library of the replaced function is accepted, too. is_first: the
 * frame is the outer function's own, and is accepted even if the size of that function is unknown. */
static bool is_own_frame(const struct process *p, const struct call *outer, uint64_t pc, bool is_first)
{
	if (outer->probe->wanted->kind->folds_in_object) {
		const struct object *object = objects_find(&p->objects, pc);

		return object == outer->probe->object || (outer->inner && object == outer->inner->object);
	}
	const struct probe *around = probe_around(p, pc, outer->probe);

	return around ? probe_same_kind(around, outer->probe) : is_first && !outer->probe->size;
}

/* Returns NESTED_FOLD if all frames from the inner function's caller to frames[first], the outer function's own, belong
 * to the outer call (is_own_frame()): new[] -> new -> malloc. A block that the program's new-handler allocates, or that
 * the C++ runtime allocates for an exception of the handler, is not a part of the outer call. */
static enum nesting nested_through(const struct process *p, const struct call *outer, const struct unwind_frame *frames,
				   size_t first)
{
	if (first >= FOLD_FRAMES && !outer->probe->wanted->kind->folds_in_object)
		return NESTED_APART;
	for (size_t i = 0; i <= first; i++)
		if (frames[i].signal)
			return NESTED_APART;
	for (size_t i = 1; i < first; i++)
		if (!is_own_frame(p, outer, frames[i].pc, false))
			return NESTED_APART;
	if (is_own_frame(p, outer, frames[first].pc, true))
		return NESTED_FOLD;
	/* The frame belongs to another function. If the call instruction before the outer call's return address has a
	 * fixed target, it has called the outer function, which has jumped to the other function. Otherwise the
	 * instruction may have called the other function itself; then the outer call has ended. */
	return outer->site->calls->is_computed ? NESTED_OVER : NESTED_APART;
}

/* Decides about an inner call when the walk has ended before it reached the outer call. If the kind has
 * folds_in_object, and all frames of the walk are code of the outer function's library, assumes that the other frames
 * are, too (musl has functions without unwind tables), and returns NESTED_FOLD. */
static enum nesting nested_beyond(struct task *task, const struct call *outer, const struct unwind_frame *frames,
				  size_t count)
{
	const struct object_list *objects = &task->process->objects;
	const struct object *library = outer->probe->object;
	uint64_t return_address;

	if (!outer->probe->wanted->kind->folds_in_object || !stack_return_address(task, false, &return_address) ||
	    objects_find(objects, return_address) != library)
		return NESTED_NO;
	for (size_t i = 1; i < count; i++)
		if (frames[i].signal || objects_find(objects, frames[i].pc) != library)
			return NESTED_NO;
	return NESTED_FOLD;
}

/* Finds out by unwinding whether this entry is inside the outer call. The frame of the outer call has the call's
 * return_sp as CFA, and returns to the call's return address. If another frame has this CFA, or a frame spans the outer
 * call's return_sp, the outer call is over. */
static enum nesting nested_in(struct task *task, const struct call *outer)
{
	struct unwind_frame frames[MAX_FRAMES];
	const struct arch *const arch = task->process->arch;
	const uint64_t place = outer->return_sp;
	uint64_t return_address;
	bool cut = false;

	/* The kernel's program sends no stack if the outer function has jumped to the inner one. */
	if (task_calls(task)->is_fed && arch->convention.return_sp(&task->regs) == place &&
	    stack_return_address(task, false, &return_address)) {
		frames[0] = (struct unwind_frame){.pc = arch->breakpoint.hit_address(arch->registers.pc(&task->regs)),
						  .cfa = place};
		return return_address == outer->return_address ? nested_through(task->process, outer, frames, 0)
							       : NESTED_OVER;
	}
	size_t at = 0, count = stack_walk(task, frames, MAX_FRAMES, place + 1, &cut);

	while (at < count && frames[at].cfa < place)
		at++;
	if (at == count)
		return nested_beyond(task, outer, frames, count);
	/* The frame of a signal handler may be on another stack. */
	if (frames[at].cfa > place)
		return at && !frames[at].signal ? NESTED_OVER : NESTED_NO;
	if (at + 1 == MAX_FRAMES)
		return NESTED_APART;
	if (at + 1 == count || frames[at + 1].pc != outer->return_address)
		return NESTED_OVER;
	return nested_through(task->process, outer, frames, at);
}

/* Returns true if a call of `inner` can be a part of the call `outer`. A release is not a part of an allocation: if new
 * fails, the free() of the thrown exception is an event of its own. But an allocation may release a resource that the
 * inner function's library has opened for itself (popen's end of the pipe). */
static bool can_hold(const struct call *outer, const struct probe *inner)
{
	return may_hold_kind(outer->probe, inner) &&
	       (inner->wanted->function->role != ROLE_RELEASE || outer->probe->function->role != ROLE_ALLOC ||
		inner->wanted->kind->folds_in_object);
}

/* Returns true if `caller` is an allocation function inside the program (operator new) that gets its memory by calling
 * the function of `probe` (malloc). Such a function may allocate more blocks than the one that it returns. The C
 * library's functions are not such functions, even if they are linked into the program. */
static bool is_own_allocator(const struct process *p, const struct probe *caller, const struct probe *probe)
{
	const char *const family = caller->function->family;

	return caller->object == p->program && caller->function->role == ROLE_ALLOC &&
	       probe->function->role == ROLE_ALLOC && !probe->wanted->kind->folds_in_object &&
	       (probe->object != p->program || (family && !strncmp(family, "new", 3)));
}

/* Folds a call of `probe` into the call `outer`, and returns true. caller: the function whose code makes the folded
 * call; it is the outer call's function, or another function that was called during the outer call. *own_allocator_call
 * (if not NULL) gets `outer` if the caller is an allocator inside the program. */
static bool fold_by(struct process *p, struct call *outer, const struct probe *caller, const struct probe *probe,
		    struct call **own_allocator_call)
{
	if (own_allocator_call && is_own_allocator(p, caller, probe))
		*own_allocator_call = outer;
	else if (caller->object == p->program && probe->wanted->function->role != ROLE_RELEASE)
		p->trace->origin.may_miss = true;
	return true;
}

static bool fold_into(struct process *p, struct call *outer, const struct probe *caller, const struct probe *probe,
		      uint64_t return_sp, struct call **own_allocator_call)
{
	outer->inner = probe;
	outer->inner_sp = return_sp;
	return fold_by(p, outer, caller, probe, own_allocator_call);
}

/* Folds the new call and returns true if the call is made directly, so that no unwinding is needed: by the function of
 * a call in flight, or by the function of a call that was folded into a call in flight (outer->inner). Returns false if
 * only unwinding can decide. */
static bool fold_direct_call(struct task *task, const struct probe *probe, uint64_t return_sp,
			     struct call **own_allocator_call)
{
	uint64_t return_address;

	for (struct call *outer = task_newest_call(task); outer; outer = outer->next) {
		if (outer->return_sp <= return_sp || !can_hold(outer, probe))
			continue;
		if (!stack_return_address(task, false, &return_address))
			return false;
		const struct probe *caller = probe_around(task->process, return_address, probe);

		if (caller && caller == outer->probe)
			return fold_into(task->process, outer, caller, probe, return_sp, own_allocator_call);
		/* outer->inner does not change, because the inner function may make more such calls: new[] calls new,
		 * which calls malloc, then the new-handler, then malloc again. */
		return caller && caller == outer->inner && outer->inner_sp > return_sp &&
		       fold_by(task->process, outer, caller, probe, own_allocator_call);
	}
	return false;
}

/* Returns the function whose code makes the inner call. */
static const struct probe *nesting_caller_of(struct task *task, const struct call *outer, const struct probe *probe)
{
	uint64_t return_address;
	const struct probe *const caller = stack_return_address(task, false, &return_address)
						   ? probe_around(task->process, return_address, probe)
						   : NULL;

	return caller ? caller : outer->probe;
}

bool call_fold(struct task *task, const struct probe *probe, uint64_t return_sp, struct call **own_allocator_call)
{
	struct process *p = task->process;
	struct call *next;

	if (own_allocator_call)
		*own_allocator_call = NULL;
	if (fold_direct_call(task, probe, return_sp, own_allocator_call))
		return true;
	/* Skips calls of other kinds: they decide nothing, and may be between this call and an outer call of the same
	 * kind. */
	for (struct call *outer = task_newest_call(task); outer; outer = next) {
		next = outer->next;
		if (outer->return_sp <= return_sp || !may_hold_kind(outer->probe, probe))
			continue;
		switch (nested_in(task, outer)) {
		case NESTED_FOLD:
			return can_hold(outer, probe) && fold_into(p, outer, nesting_caller_of(task, outer, probe),
								   probe, return_sp, own_allocator_call);
		case NESTED_APART:
			return false;
		case NESTED_OVER:
			call_abandon(p, outer);
			break;
		case NESTED_NO:
			break;
		}
	}
	return false;
}

bool release_fold_reserved(struct task *task, const struct probe *probe, uint64_t return_sp, uint64_t id)
{
	struct process *p = task->process;
	struct call *outer = call_reserved(p, probe->wanted->resource, id);
	uint64_t return_address;

	if (!outer || outer->task != task || !probe_same_kind(outer->probe, probe) || outer->return_sp < return_sp)
		return false;
	if (outer->return_sp == return_sp)
		return stack_return_address(task, false, &return_address) && return_address == outer->return_address;
	switch (nested_in(task, outer)) {
	case NESTED_FOLD:
	case NESTED_APART:
		return true;
	case NESTED_OVER:
		call_abandon(p, outer);
		return false;
	default:
		return false;
	}
}

/* Returns true if the function of `from` has called the function of `entry`, or has jumped to it. */
static bool comes_from(const struct entry *from, const struct entry *entry)
{
	const struct probe *caller = from->probe;

	if (!caller || caller == entry->probe || !probe_same_kind(caller, entry->probe))
		return false;
	if (from->sp == entry->sp)
		return from->return_address == entry->return_address;
	return from->sp > entry->sp && entry->return_address > caller->start &&
	       entry->return_address <= caller->start + caller->size;
}

/* Returns true if the entry has the same sp as the last release's outer function, but is a new call from the same
 * place. It is a new call if it enters the outer function again, or a function to which the last release has already
 * jumped, or if the last release cannot jump any more. Otherwise an entry with this sp is one more jump of the last
 * release. */
static bool is_next_call(const struct last_release *last, const struct entry *entry)
{
	if (entry->sp != last->outer.sp)
		return false;
	if (entry->probe == last->outer.probe || last->has_called || last->jumps == RELEASE_JUMPS)
		return true;
	for (unsigned i = 0; i < last->jumps; i++)
		if (last->jumped[i] == entry->probe)
			return true;
	return false;
}

static void remember_inner(struct last_release *last, const struct entry *entry, uint64_t id)
{
	if (entry->sp == last->outer.sp)
		last->jumped[last->jumps++] = entry->probe;
	else
		last->has_called |= id == last->id;
	last->inner = *entry;
}

static struct last_release *last_release(struct task *task, uint32_t resource)
{
	struct task_calls *own = task_calls(task);

	if (!own->last_releases)
		own->last_releases = xcalloc(kinds_end(task->process->tracer->set), sizeof(*own->last_releases));
	return &own->last_releases[resource];
}

/* Returns true if the call instruction before this return address always calls the same function. Then any other
 * function with this return address was reached by a jump. */
static bool is_fixed_call(struct process *p, uint64_t return_address)
{
	const struct arch_memory code = {.read = breakpoints_read, .context = p};
	enum arch_call kind;

	return arch_call_before(p->arch, return_address, &code, &kind) == 0 && kind == CALL_FIXED;
}

/* Reads return addresses only in processes with several release functions, where one can call another. */
bool release_fold(struct task *task, const struct probe *probe, uint64_t return_sp, uint64_t id)
{
	struct last_release *last = last_release(task, probe->wanted->resource);
	struct entry entry = {.probe = probe, .sp = return_sp};

	if (task->process->probes->releases > 1 && stack_return_address(task, false, &entry.return_address)) {
		const bool is_part = !is_next_call(last, &entry) &&
				     (comes_from(&last->outer, &entry) || comes_from(&last->inner, &entry));

		/* Folds a release of the same block, or of an address that the outer function has computed from the
		 * block's address (a header before the block). A release of another live block is not folded: the outer
		 * function releases that block in addition or, with the same sp, this is the next call. */
		if (is_part && !ledger_knows(task->process->trace, probe->wanted->resource, id) &&
		    (id == last->id || return_sp < last->outer.sp ||
		     is_fixed_call(task->process, entry.return_address))) {
			remember_inner(last, &entry, id);
			return true;
		}
		if (is_part && return_sp < last->outer.sp)
			return false;
	}
	*last = (struct last_release){.outer = entry, .id = id};
	return false;
}

bool release_is_library_own(struct task *task, const struct probe *probe)
{
	const struct process *p = task->process;
	uint64_t return_address;

	if (!probe->wanted->kind->folds_in_object || !stack_return_address(task, false, &return_address))
		return false;
	/* If the library is linked into the program, only its traced functions are recognised as its own (closedir). */
	const struct object *object = objects_find(&p->objects, return_address);
	const struct probe *caller = probe_around(p, return_address, probe);

	return object == probe->object && (object != p->program || (caller && may_hold_kind(caller, probe)));
}

bool release_was_last(struct task *task, const struct probe *probe, uint64_t return_sp)
{
	const struct last_release *last = last_release(task, probe->wanted->resource);

	return last->outer.probe == probe && last->outer.sp == return_sp;
}

/* Returns true if the C library's own code makes the call. In a shared C library all code is the library's. If the
 * library is linked into the program, only the function that the kind names as its `keeper` is recognised as the
 * library's. */
static bool is_library_code(const struct process *p, const struct probe *probe, uint64_t return_address)
{
	const struct object *object = objects_find(&p->objects, return_address);
	struct elf_symbol symbol;

	if (object != probe->object || object != p->program)
		return object == probe->object;
	return elf_file_find(object->file, probe->wanted->kind->keeper, &symbol) &&
	       return_address - object->bias - symbol.value <= symbol.size;
}

/* Recognises releases of glibc's own data. When a thread ends, glibc passes to its own free() the thread's cache, which
 * did not come from malloc(), and blocks that the program has already freed. In an attached process such a release
 * looks like the release of a block from before the trace; only a baseline tells the two apart. For other kinds, the C
 * library releases only what it got by traced calls: a descriptor that it closes was opened. */
bool release_count_bookkeeping(struct task *task, const struct probe *probe, struct event *e)
{
	struct process *p = task->process;
	struct trace *const trace = p->trace;
	const uint32_t resource = probe->wanted->resource;
	uint64_t return_address;

	if (!probe->wanted->kind->keeper || ledger_knows(trace, resource, e->id) ||
	    !stack_return_address(task, false, &return_address) || !is_library_code(p, probe, return_address))
		return false;
	e->may_be_bookkeeping = trace->origin.attached && !ledger_has_released(trace, resource, e->id) &&
				!ledger_has_baseline(trace, resource);
	if (e->may_be_bookkeeping)
		return false;
	ledger_baseline_without(trace, resource, e->id);
	trace->counts.internal++;
	return true;
}
