#include "config.h"
#include "calls/backtrace.h"
#include "calls/probes/kernel_probes.h"
#include "breakpoints/breakpoints.h"
#include "ptrace/target_memory.h"
#include "proc/proc.h"
#include "uprobe/uprobes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

/* Reads the stack of a stopped task. The bytes that are read at a call's entry, to get its return address, are used
 * again at the call's return, which saves a system call per event. They are still valid then, because an unwinder reads
 * only the return addresses and saved registers above the call's frame, which do not change before the call returns. */

/* From this size on process_vm_readv() is cheaper, because it copies the data once, while /proc/PID/mem copies page by
 * page and twice: 8 KiB take 2.5 us instead of 2.9, 32 KiB 4.6 us instead of 10. */
#define LARGE_READ 6144

#define STACK_MAX (64u << 10)

void stack_note_replaced(struct task *task, uint64_t return_sp, uint64_t return_address)
{
	struct task_calls *const own = task_calls(task);
	unsigned i = 0;

	while (i < REPLACED_RETURNS && own->replaced[i].return_sp != return_sp)
		i++;
	/* The newest one is replaced last, also if its place was known from a call that has ended or was abandoned. */
	if (i < REPLACED_RETURNS)
		own->replaced[i].return_sp = 0;
	own->replaced[own->replaced_next++ % REPLACED_RETURNS] = (struct replaced_return){return_sp, return_address};
}

/* Asks the kernel for the calls in flight of a stopped task. Most of them have no record before they return. */
static bool learn_replaced(struct task *task)
{
	struct uprobe_call calls[UPROBE_CALLS];

	if (task_calls(task)->is_fed ||
	    !uprobe_calls_in_flight(task->process->tracer->uprobes, task->tid, calls, false))
		return false;
	for (unsigned i = 0; i < UPROBE_CALLS; i++)
		if (calls[i].return_sp)
			stack_note_replaced(task, calls[i].return_sp, calls[i].return_address);
	return true;
}

static const struct replaced_return *find_replaced(const struct task *task, uint64_t return_sp)
{
	for (unsigned i = 0; task->calls && i < REPLACED_RETURNS; i++)
		if (task->calls->replaced[i].return_sp == return_sp)
			return &task->calls->replaced[i];
	return NULL;
}

uint64_t stack_true_return(struct task *task, uint64_t return_sp, uint64_t address)
{
	if (!kernel_probes_is_trampoline(task->process, address))
		return address;
	const struct replaced_return *replaced = find_replaced(task, return_sp);

	if (!replaced && learn_replaced(task))
		replaced = find_replaced(task, return_sp);
	return replaced ? replaced->return_address : address;
}

void stack_restore_returns(struct task *task, uint64_t start, unsigned char *bytes, size_t size)
{
	for (unsigned i = 0; task->process->kernel && task->calls && i < REPLACED_RETURNS; i++) {
		const uint64_t return_sp = task->calls->replaced[i].return_sp;
		const uint64_t offset = return_sp - sizeof(uint64_t) - start;
		uint64_t address;

		if (!return_sp || offset >= size || size - offset < sizeof(address))
			continue;
		memcpy(&address, bytes + offset, sizeof(address));
		address = stack_true_return(task, return_sp, address);
		memcpy(bytes + offset, &address, sizeof(address));
	}
}

/* The stack bytes for the present walk. */
static unsigned char buffer[STACK_MAX];

/* Reads a stopped task's memory. Falls back on the open /proc/PID/mem, because process_vm_readv() may be refused. */
static ssize_t call_stack_read_stack(struct task *task, uint64_t address, void *data, size_t size)
{
	if (size >= LARGE_READ) {
		const struct iovec local = {data, size}, remote = {(void *)(uintptr_t)address, size};
		const ssize_t got = process_vm_readv(task->tid, &local, 1, &remote, 1, 0);

		if (got > 0)
			return got;
	}
	return memory_read_some(task->process, address, data, size);
}

/* Returns the stack bytes from sp on if they were read at this stop, or if stack_recall() has made kept bytes valid for
 * this stop; else NULL. *size: number of these bytes. */
static inline const unsigned char *known_bytes(struct task *task, uint64_t sp, size_t *size)
{
	const struct kept_stack *kept = &task_calls(task)->kept;

	if (kept->valid_at != task->at_stop || sp < kept->address || sp - kept->address >= kept->size)
		return NULL;
	*size = kept->size - (sp - kept->address);
	return kept->bytes + (sp - kept->address);
}

static void read_kept(struct task *task, uint64_t address)
{
	struct kept_stack *kept = &task->calls->kept;
	const size_t want = task->process->calls->stack_want;

	if (kept->capacity < want) {
		free(kept->bytes);
		kept->bytes = xmalloc(want);
		kept->capacity = want;
	}
	const ssize_t got = call_stack_read_stack(task, address, kept->bytes, want);

	*kept = (struct kept_stack){.bytes = kept->bytes,
				    .capacity = kept->capacity,
				    .address = address,
				    .size = got > 0 ? (size_t)got : 0,
				    .valid_at = got > 0 ? task->at_stop : 0};
	stack_restore_returns(task, address, kept->bytes, kept->size);
}

bool stack_return_address(struct task *task, bool with_stack, uint64_t *address)
{
	const struct process *p = task->process;
	struct task_calls *own = task_calls(task);
	const unsigned char *bytes;
	uint64_t where;
	size_t size;

	if (p->arch->convention.return_address(&task->regs, &where)) {
		*address = where;
		return true;
	}
	/* The address is needed several times per stop, and each read is a system call. So the last word that was read
	 * is kept. */
	if (own->word_stop == task->at_stop && own->word_at == where) {
		*address = own->word;
		return true;
	}
	bytes = known_bytes(task, where, &size);
	if (with_stack && !bytes) {
		read_kept(task, where);
		bytes = known_bytes(task, where, &size);
	}
	if (bytes && size >= p->arch->pointer_size)
		*address = arch_pointer(p->arch, bytes);
	else if (memory_read_pointer(task->process, where, address) < 0)
		return false;
	if (p->kernel)
		*address = stack_true_return(task, where + p->arch->pointer_size, *address);
	own->word_at = where;
	own->word = *address;
	own->word_stop = task->at_stop;
	return true;
}

void stack_keep(struct task *task, struct call *call)
{
	struct task_calls *own = task->calls;

	if (own->kept.valid_at != task->at_stop)
		return;
	/* Several calls may have begun at this stop. The stack was read once for all, so they get one serial. */
	if (!own->kept.call)
		own->kept.call = ++own->last_serial;
	call->serial = own->kept.call;
}

void stack_recall(struct task *task, const struct call *call)
{
	/* the data of the task that returns, because another task may have entered the call */
	struct kept_stack *kept = &task_calls(task)->kept;

	kept->valid_at = call->task == task && call->serial && kept->call == call->serial ? task->at_stop : 0;
}

/* Returns true if the address is in an executable mapping. */
static bool is_code_without_object(struct process *p, uint64_t address)
{
	/* the latest answer */
	static struct {
		const struct process *p;
		uint64_t start, end;
		bool is_code;
	} known;
	struct maps maps;

	if (known.p == p && address >= known.start && address < known.end)
		return known.is_code;
	if (maps_read(proc_live_thread(p->pid), &maps))
		return false;
	const struct mapping *const m = maps_find(&maps, address);
	const bool is_code = m && m->exec;

	known.p = m ? p : NULL;
	known.start = m ? m->start : 0;
	known.end = m ? m->end : 0;
	known.is_code = is_code;
	maps_free(&maps);
	return is_code;
}

ssize_t stack_read_running(struct process *p, uint64_t address, void *data, size_t size)
{
	if (!objects_find(&p->objects, address) && !is_code_without_object(p, address))
		return -EFAULT;
	return memory_read_some(p, address, data, size);
}

struct stack_reader {
	struct process *p;
	bool is_running; /* only a copy shows the task's stack */
	uint64_t top;    /* highest address that was read beyond the bytes in the buffer */
};

static ssize_t stack_read(void *context, uint64_t address, void *data, size_t size)
{
	struct stack_reader *reader = context;

	if (reader->is_running)
		return stack_read_running(reader->p, address, data, size);
	if (address + size > reader->top)
		reader->top = address + size;
	return memory_read_some(reader->p, address, data, size);
}

static size_t walk_known(struct task *task, struct unwind_frame *frames, size_t max, uint64_t until_cfa, bool *cut)
{
	struct process *p = task->process;
	const uint64_t sp = p->arch->registers.sp(&task->regs);
	struct stack_reader reader = {.p = p, .is_running = task_calls(task)->is_fed};
	/* If the walk is to end at a near frame, fewer bytes are read. */
	size_t want = until_cfa && until_cfa - sp < 512 ? 1024 : p->calls->stack_want;
	size_t size;
	const unsigned char *bytes = known_bytes(task, sp, &size);

	if (!bytes) {
		const ssize_t got = reader.is_running ? 0 : call_stack_read_stack(task, sp, buffer, want);

		bytes = buffer;
		size = got > 0 ? (size_t)got : 0;
		stack_restore_returns(task, sp, buffer, size);
	} else {
		want = size;
	}
	/* The pc is after the breakpoint. If the instruction under it is one byte long and moves the stack (push,
	 * leave, ret), the unwind table has another row for that pc. But the instruction has not run, so the
	 * breakpoint's address is used. */
	const uint64_t at = p->arch->breakpoint.hit_address(p->arch->registers.pc(&task->regs));
	const struct breakpoint *b = breakpoint_find(p, at);
	struct stack_snapshot snapshot = {.arch = p->arch,
					  .regs = task->regs,
					  .address = sp,
					  .bytes = bytes,
					  .size = size,
					  .read = stack_read,
					  .context = &reader,
					  .inside = b && !b->probe};

	p->arch->registers.set_pc(&snapshot.regs, at);
	const size_t count = unwind_stack(p->unwinder, &snapshot, frames, max, until_cfa, cut);

	/* Adapts the size of the next read to the length of the stacks. */
	if (reader.top > sp + want && reader.top - sp <= STACK_MAX)
		p->calls->stack_want = align_up(reader.top - sp, 1024);
	else if (!until_cfa && count && frames[count - 1].cfa - sp < want / 4 && want > 1024)
		p->calls->stack_want = want - want / 8;
	return count;
}

size_t stack_walk(struct task *task, struct unwind_frame *frames, size_t max, uint64_t until_cfa, bool *cut)
{
	const size_t count = walk_known(task, frames, max, until_cfa, cut);
	struct kept_stack *const kept = &task->calls->kept;

	/* The walk has ended at a call whose return the kernel waits for, and of which functrace has no record yet. */
	if (!count || !task->process->kernel || !kernel_probes_is_trampoline(task->process, frames[count - 1].pc) ||
	    !learn_replaced(task))
		return count;
	if (kept->valid_at == task->at_stop)
		stack_restore_returns(task, kept->address, kept->bytes, kept->size);
	return walk_known(task, frames, max, until_cfa, cut);
}

static bool is_monitored(const struct settings *set, uint64_t size)
{
	if (!set->calls.stack_size_count)
		return true;
	for (size_t i = 0; i < set->calls.stack_size_count; i++)
		if (size >= set->calls.stack_sizes[i].low && size <= set->calls.stack_sizes[i].high)
			return true;
	return false;
}

static void stack_recorded(struct event *e, const struct recorded_stack *stack, struct unwind_frame *frames,
			   size_t depth)
{
	e->end = stack->count > depth ? STACK_CUT : stack->end;
	e->frame_count = stack->count > depth ? depth : stack->count;
	memcpy(frames, stack->frames, e->frame_count * sizeof(*frames));
	e->frames = frames;
	e->has_frames = true;
}

void stack_of_event(struct event *e, struct task *task, struct unwind_frame frames[MAX_FRAMES + 2], bool at_entry)
{
	const struct settings *set = task->process->tracer->set;
	bool cut = false;

	if (!set->calls.depth || !is_monitored(set, e->size))
		return;
	if (task_calls(task)->recorded) {
		stack_recorded(e, task->calls->recorded, frames, set->calls.depth);
		return;
	}
	size_t count = stack_walk(task, frames, set->calls.depth + 1 + at_entry, 0, &cut);

	if (at_entry && count) {
		frames++;
		count--;
	}
	e->end = count > set->calls.depth ? STACK_CUT : cut ? STACK_LOST : STACK_WHOLE;
	e->frames = frames;
	e->frame_count = count > set->calls.depth ? set->calls.depth : count;
	e->has_frames = true;
}
