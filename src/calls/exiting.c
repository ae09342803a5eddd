#include "config.h"
#include "calls/exiting.h"
#include "calls/calls.h"
#include "ptrace/target_memory.h"
#include "ptrace/tasks.h"

#include <string.h>

#define FRAMES 6

/* The stack of a thread that ends its process, with glibc. (musl's exit() calls _Exit() itself.)
 *
 *     ([vdso]) | _exit | __run_exit_handlers | exit | the caller of exit
 *
 * The frame of the vdso is there only if system calls are made in the vdso, as on i386. __run_exit_handlers is local to
 * the C library and mostly has no symbol; exit() calls no other function. If a handler calls _exit(), the handler's
 * frames are between those of _exit and __run_exit_handlers. Then find_exit() finds no exit(), as intended, because the
 * data of the handler's frames are still in use. */

struct exit_search {
	struct process *p;
	const struct object *library; /* the object that contains _exit(); NULL: not found yet */
};

/* Returns true if a frame is in a function that has one of these names. */
static bool exiting_is_in(struct exit_search *search, const struct unwind_frame *frame, bool is_call,
			  const char *const names[2])
{
	const struct arch *const arch = search->p->arch;
	const uint64_t pc = arch_text_address(arch, frame->pc) - (is_call ? 1 : 0);
	const struct object *const object = objects_find(&search->p->objects, pc);
	struct elf_symbol symbol;

	if (!object || (search->library && search->library != object))
		return false;
	for (unsigned i = 0; i < 2; i++)
		if (elf_file_find(object->file, names[i], &symbol) &&
		    pc - (arch_text_address(arch, symbol.value) + object->bias) < symbol.size) {
			search->library = object;
			return true;
		}
	return false;
}

static const char *const last[2] = {"_exit", "_Exit"}, *const outer[2] = {"exit", "quick_exit"};

/* Returns true if the pc is in _exit(), or in the vdso, which _exit() may have called. Otherwise the stack is not
 * walked, to save time: threads end often, and mostly not by exit(). */
static bool may_be_last(struct exit_search *search, uint64_t pc)
{
	const struct object *const object = objects_find(&search->p->objects, pc);

	return object && (!strcmp(object->path, "[vdso]") ||
			  exiting_is_in(search, &(struct unwind_frame){.pc = pc}, false, last));
}

/* Returns the index of exit()'s frame; 0 if there is none. */
static size_t find_exit(struct exit_search *search, const struct unwind_frame *frames, size_t count)
{
	const size_t at = search->library ? 0 : 1;

	if (at >= count || (at && !exiting_is_in(search, &frames[at], true, last)))
		return 0;
	for (size_t i = at + 1; i < count && i <= at + 2; i++)
		if (exiting_is_in(search, &frames[i], true, outer))
			return i;
	return 0;
}

bool exiting_caller(struct task *task, struct exit_caller *caller)
{
	struct process *const p = task->process;
	struct unwind_frame frames[FRAMES];
	bool cut;

	if (!p->unwinder || task_regs(task) < 0)
		return false;
	const struct stack_snapshot snapshot = {.arch = p->arch,
						.regs = task->regs,
						.address = p->arch->registers.sp(&task->regs),
						.read = memory_read_for_unwind,
						.context = p,
						.inside = true};
	struct exit_search search = {.p = p};

	if (!may_be_last(&search, p->arch->registers.pc(&task->regs)))
		return false;
	const size_t count = unwind_stack(p->unwinder, &snapshot, frames, FRAMES, 0, &cut);
	const size_t at = find_exit(&search, frames, count);

	if (!at)
		return false;
	caller->sp = frames[at].cfa;
	return unwind_registers(p->unwinder, &snapshot, at + 1, caller->words, EXITING_WORDS, &caller->count);
}
