#include "config.h"
#include "calls/contexts.h"
#include "calls/backtrace.h"
#include "record/trace_output.h"
#include "ptrace/target_memory.h"
#include "ptrace/tasks.h"
#include "proc/proc.h"
#include "base/msg.h"

#include <stdlib.h>
#include <string.h>

#define NEAR_FRAMES 16  /* frames of the first walk of a stack; a longer walk follows if contexts are missing */
#define MARKED_MAX  256 /* maximum number of a task's calls that mark_elsewhere() examines */
/* If a walk was cut off, calls up to this many bytes above its end are assumed to be on the same stack. */
#define STACK_REACH (8u << 20)

/* ---- Libraries ---- */

static struct context_library *library_find(const struct contexts *contexts, uint64_t start)
{
	for (size_t i = 0; contexts && i < contexts->count; i++)
		if (contexts->libraries[i].start == start)
			return &contexts->libraries[i];
	return NULL;
}

/* Stores in library->ids[bit] the bit that the trace uses for the context `name`; the library itself uses bit number
 * `bit` for it. A context that is new in the trace gets a new bit of the trace, if one is left. */
static void library_name(struct process *p, struct context_library *library, unsigned bit, const char *name)
{
	if (library->known >> bit & 1)
		return;
	library->known |= UINT32_C(1) << bit;
	library->ids[bit] = output_context(p->trace, name);
}

static bool table_is_known(struct process *p, const struct context_table *table)
{
	if (table->magic == CONTEXT_TABLE_MAGIC && table->version == CONTEXT_TABLE_VERSION)
		return true;
	if (table->magic == CONTEXT_TABLE_MAGIC)
		msg_warn("process %d has a context library of a version that this functrace does not know (%u): "
			 "contexts that the program has already set are missing in the trace",
			 p->pid, table->version);
	return false;
}

/* Reads the contexts in the library's table. */
static void library_read(struct process *p, struct context_library *library)
{
	struct context_table table;

	if (!library->table || memory_read(p, library->table, &table, offsetof(struct context_table, threads)) < 0)
		return;
	if (!table_is_known(p, &table)) {
		library->table = 0;
		return;
	}
	for (unsigned i = 0; i < CONTEXTS_MAX; i++) {
		table.contexts[i].name[CONTEXT_NAME_SIZE - 1] = '\0';
		if (table.created >> i & 1)
			library_name(p, library, i, table.contexts[i].name);
	}
}

static void library_add(struct process *p, const struct object *object)
{
	struct calls *const calls = p->calls;
	const uint64_t table = elf_file_contexts(object->file);

	if (!calls->contexts)
		calls->contexts = xcalloc(1, sizeof(*calls->contexts));
	ARRAY_GROW(calls->contexts->libraries, calls->contexts->capacity, calls->contexts->count);
	calls->contexts->libraries[calls->contexts->count++] =
		(struct context_library){.start = object->start, .table = table ? table + object->bias : 0};
}

void contexts_find(struct process *p, bool again)
{
	for (size_t i = 0; i < p->probes->count; i++) {
		const struct probe *probe = p->probes->items[i];

		if (probe->wanted->hook == HOOK_CONTEXT_CREATE &&
		    !library_find(p->calls->contexts, probe->object->start))
			library_add(p, probe->object);
	}
	for (size_t i = 0; p->calls->contexts && i < p->calls->contexts->count; i++)
		if (again || !p->calls->contexts->libraries[i].known)
			library_read(p, &p->calls->contexts->libraries[i]);
	FOR_EACH_TASK(task, p)
		if (again && task->calls)
			task->calls->entered_known = false;
}

void contexts_forget_range(struct process *p, uint64_t start, uint64_t end)
{
	struct contexts *const contexts = p->calls->contexts;

	for (size_t i = 0; contexts && i < contexts->count;)
		if (contexts->libraries[i].start >= start && contexts->libraries[i].start < end)
			contexts->libraries[i] = contexts->libraries[--contexts->count];
		else
			i++;
}

void contexts_free(struct calls *calls)
{
	if (calls->contexts)
		free(calls->contexts->libraries);
	free(calls->contexts);
	calls->contexts = NULL;
}

/* Returns the trace's bits for ids of the library. With `asks`, reads the library's table if an id is unknown: a
 * context that was being created when the breakpoints were inserted is known only from the table. */
static uint32_t library_mask(struct process *p, struct context_library *library, uint32_t ids, bool asks)
{
	uint32_t mask = 0;

	if (asks && (ids & ~library->known))
		library_read(p, library);
	for (ids &= library->known; ids; ids &= ids - 1)
		mask |= library->ids[__builtin_ctz(ids)];
	return mask;
}

/* ---- Contexts that tasks have entered ---- */

/* Returns the tid that a task has in its innermost pid namespace. */
static uint32_t own_tid(pid_t tid)
{
	char *const status = proc_read(tid, "status", NULL);
	uint64_t id = (uint64_t)tid, inner;

	for (unsigned n = 0; proc_status_number(status, "NSpid", n, 10, &inner); n++)
		id = inner;
	free(status);
	return (uint32_t)id;
}

/* Returns the contexts that, as the library's table shows, the task had entered before breakpoints were inserted. */
static uint32_t entered_before(const struct task *task)
{
	struct process *const p = task->process;
	struct context_thread threads[CONTEXT_THREADS_MAX];
	const uint32_t tid = own_tid(task->tid);
	uint32_t mask = 0;

	for (size_t l = 0; l < p->calls->contexts->count; l++) {
		struct context_library *const library = &p->calls->contexts->libraries[l];
		const uint64_t at = library->table + offsetof(struct context_table, threads);

		if (!library->table || memory_read(p, at, threads, sizeof(threads)) < 0)
			continue;
		for (size_t i = 0; i < CONTEXT_THREADS_MAX; i++)
			if (threads[i].tid == tid)
				mask |= library_mask(p, library, threads[i].mask, true);
	}
	return mask;
}

/* Returns the contexts that the task has entered. For a thread from before the trace, reads the library's table, at the
 * thread's first hit or when it forks. The thread is stopped then. The table is right even at the entry of
 * sp_context_enter() or sp_context_exit(), because these functions change the table only later. */
static uint32_t entered_now(const struct task *task)
{
	if (task->calls && task->calls->entered_known)
		return task->calls->entered;
	return task->process->trace->origin.attached ? entered_before(task) : 0;
}

static uint32_t refresh_entered(struct task *task)
{
	struct task_calls *const own = task_calls(task);

	own->entered = entered_now(task);
	own->entered_known = true;
	return own->entered;
}

void contexts_hit(struct task *task, const struct probe *probe, uint64_t id)
{
	struct process *const p = task->process;
	struct context_library *const library = library_find(p->calls->contexts, probe->object->start);
	const bool enters = probe->wanted->hook == HOOK_CONTEXT_ENTER;

	if (!library)
		return;
	const uint32_t before = refresh_entered(task), mask = library_mask(p, library, (uint32_t)id, enters);

	task->calls->entered = enters ? before | mask : before & ~mask;
	task->calls->context_stop = 0;
}

void contexts_created(struct task *task, const struct call *call)
{
	struct process *const p = task->process;
	struct context_library *const library = library_find(p->calls->contexts, call->probe->object->start);
	const uint32_t id = (uint32_t)p->arch->convention.result(&task->regs);
	char name[CONTEXT_NAME_SIZE] = "";

	if (!library || !id || (id & (id - 1)))
		return;
	const ssize_t got = memory_read_some(p, call->args[0], name, sizeof(name) - 1);

	name[got > 0 ? got : 0] = '\0';
	library_name(p, library, (unsigned)__builtin_ctz(id), name);
}

void contexts_fork(const struct process *parent, struct process *child)
{
	const struct contexts *const from = parent->calls->contexts;

	if (!from)
		return;
	child->calls->contexts = xcalloc(1, sizeof(*from));
	for (size_t i = 0; i < from->count; i++) {
		ARRAY_GROW(child->calls->contexts->libraries, child->calls->contexts->capacity, i);
		child->calls->contexts->libraries[child->calls->contexts->count++] = from->libraries[i];
	}
}

void contexts_fork_task(const struct task *maker, struct task *child)
{
	if (!maker->process->calls->contexts)
		return;
	task_calls(child)->entered = entered_now(maker);
	child->calls->entered_known = true;
}

/* ---- Context functions ---- */

/* Returns the contexts of those calls in flight that return to one of these frames. */
static uint32_t contexts_in(const struct process *p, const struct unwind_frame *frames, size_t count)
{
	uint32_t mask = 0;

	for (size_t i = 0; i + 1 < count; i++)
		for (struct call *call = call_find(p, frames[i].cfa); call; call = call->older)
			if (call_is_context(call) && call->return_address == frames[i + 1].pc) {
				mask |= call->context;
				call->is_elsewhere = false;
			}
	return mask;
}

/* Sets is_elsewhere of calls whose return_sp is at or below `end`, where the stack walk has ended. contexts_in() then
 * clears is_elsewhere of the calls that the walk has found. The other calls were left without a return, or are on
 * another stack. Looks at the newest MARKED_MAX calls only, to save time. */
static void mark_elsewhere(struct task *task, uint64_t end)
{
	struct call *call = task_calls(task)->newest_context;

	for (unsigned i = 0; call && i < MARKED_MAX; call = call->next_context, i++)
		call->is_elsewhere |= call->return_sp <= end;
}

/* Called after a walk that did not reach the thread's outermost frame. Returns the contexts of the task's calls that
 * are at most STACK_REACH beyond the end of the walk. These calls are assumed to be on the same stack, except those
 * with is_elsewhere. */
static uint32_t contexts_beyond(struct task *task, uint64_t end)
{
	const uint32_t wanted = task->process->calls->functions.mask;
	uint32_t mask = 0;

	for (const struct call *call = task_calls(task)->newest_context; call && mask != wanted;
	     call = call->next_context)
		if (!call->is_elsewhere && call->return_sp > end && call->return_sp - end < STACK_REACH)
			mask |= call->context;
	return mask;
}

/* Returns the contexts of the functions on the task's stack. A call that was left by an exception or a longjmp, or that
 * belongs to a coroutine that does not run, is not found there. A call of a coroutine that has moved is found on the
 * stack of its present thread. */
static uint32_t functions_around(struct task *task)
{
	struct process *const p = task->process;
	const uint32_t wanted = p->calls->functions.mask;
	struct unwind_frame frames[MAX_FRAMES];
	bool cut = false;
	size_t max = NEAR_FRAMES, count = stack_walk(task, frames, max, 0, &cut);
	uint32_t mask = contexts_in(p, frames, count);

	if (mask != wanted && count == max) {
		max = MAX_FRAMES;
		count = stack_walk(task, frames, max, 0, &cut);
		mask |= contexts_in(p, frames, count);
	}
	if (mask == wanted)
		return mask;
	const uint64_t last = count ? frames[count - 1].cfa : p->arch->registers.sp(&task->regs);
	const uint64_t end = cut || count == max ? last : UINT64_MAX;

	mark_elsewhere(task, end);
	return contexts_in(p, frames, count) | contexts_beyond(task, end);
}

uint32_t contexts_of(struct task *task)
{
	const struct calls *const calls = task->process->calls;

	if (!calls->contexts && !calls->functions.mask)
		return 0;
	struct task_calls *const own = task_calls(task);

	/* Computed once per stop, because several probes at one address need it. */
	if (own->context_stop != task->at_stop) {
		own->context_stop = task->at_stop;
		own->context = (calls->contexts ? refresh_entered(task) : 0) |
			       (calls->functions.mask ? functions_around(task) : 0);
	}
	return own->context;
}
