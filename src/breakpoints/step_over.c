#include "config.h"
#include "breakpoints/step_over.h"
#include "breakpoints/breakpoints.h"
#include "breakpoints/out_of_line.h"
#include "ptrace/halt.h"
#include "ptrace/target_memory.h"
#include "ptrace/stops.h"
#include "ptrace/tasks.h"

#include <errno.h>
#include <sys/uio.h>

/* Getting past a breakpoint without lifting it: a jump into its copy, or doing the instruction here. Only what
 * neither can do is stepped in place, with all tasks of the address space stopped. */

static int emulation_read(void *context, uint64_t address, void *data, size_t size)
{
	const struct task *task = context;

	return memory_read(task->process, address, data, size);
}

/* Loads and stores of the program's own that are done for it: where it may not read or write it has to find that out
 * itself (a collector's write barrier is a handler of SIGSEGV). /proc/PID/mem passes over protection, this does not. */
static int protected_read(void *context, uint64_t address, void *data, size_t size)
{
	const struct task *task = context;
	const struct iovec local = {data, size}, remote = {(void *)(uintptr_t)address, size};

	return process_vm_readv(task->tid, &local, 1, &remote, 1, 0) == (ssize_t)size ? 0 : -EFAULT;
}

static int protected_write(void *context, uint64_t address, const void *data, size_t size)
{
	const struct task *task = context;
	const struct iovec local = {(void *)(uintptr_t)data, size}, remote = {(void *)(uintptr_t)address, size};
	unsigned char byte;

	/* Of two pages the first might be written and the second not. */
	if (address / page_size() != (address + size - 1) / page_size())
		return -EFAULT;
	/* This read makes a stack grow, as the program's own push would; a write without it the kernel refuses, and
	 * complains of in its log. */
	if (memory_read(task->process, address, &byte, 1) < 0)
		return -EFAULT;
	return process_vm_writev(task->tid, &local, 1, &remote, 1, 0) == (ssize_t)size ? 0 : -EFAULT;
}

/* Where /proc/PID/mem cannot be written to, the other way is tried. */
static int emulation_write(void *context, uint64_t address, const void *data, size_t size)
{
	const struct task *task = context;

	if (memory_write(task->process, address, data, size) == 0)
		return 0;
	return protected_write(context, address, data, size);
}

static bool emulate(struct task *task, const struct breakpoint *b)
{
	struct process *p = task->process;
	const bool is_own = b->insn.kind == INSN_COPY;
	const struct arch_memory memory = {is_own ? protected_read : emulation_read,
					   is_own ? protected_write : emulation_write, task};
	struct arch_regs regs = task->regs;

	p->arch->set_pc(&regs, b->address);
	if (p->arch->emulate(&b->insn, &regs, &memory) < 0)
		return false;
	/* Where that writes all registers anyway, the count of an IT block is among them. */
	if (b->insn.pc_only && p->arch->pc_offset >= 0) {
		task_set_pc(task, p->arch->pc(&regs));
	} else {
		task->regs = regs;
		task_set_regs(task);
	}
	return true;
}

/* The kernel holds the step up: in a system call that blocks, or for a page that somebody else is to bring. The
 * instruction has been taken from the text by then, so that its breakpoint may be there again; and those who are to end
 * that wait may be halted by us. The step's trap comes later, and is dropped. Where a page was missing the instruction
 * is begun again, and hits. */
static void step_left_under_way(struct task *task, const struct breakpoint *b, const struct arch_regs *before)
{
	task->is_stepping = true;
	if (b->insn.is_syscall)
		return;
	task->regs = *before;
	task->regs_known = true;
	hit_undo(task, b);
	task->regs_known = false;
}

static void step_in_place(struct task *task, struct breakpoint *b)
{
	struct process *p = task->process;
	struct tracer *t = p->tracer;

	p->text->slow_steps++;
	if (!halt_others(task))
		return;
	task_set_pc(task, b->address);
	breakpoint_remove(p, b);
	const struct arch_regs before = task->regs;
	struct stop stop;
	uint64_t mask;
	const bool has_mask = task_signal_mask(task, &mask);

	task_step(task);
	const bool has_stopped = halt_wait(task, PATIENCE_SOON, &stop);

	breakpoint_insert(p, breakpoint_code(b));
	if (!has_stopped) {
		step_left_under_way(task, b, &before);
		return;
	}
	if (stop.kind == STOP_TRAP) {
		/* The step is done, unless the next instruction's breakpoint was reported at once: the pc tells. A
		 * pending event of ours is not lost: it comes after this. The step's trap has unblocked SIGTRAP, as a
		 * hit does. */
		if (has_mask && !b->insn.is_syscall)
			task_set_signal_mask(task, mask);
		task_resume(task, 0);
		return;
	}
	/* A signal came instead of the step, or the task has died: the hit is known already. */
	stops_put_back(t, &stop);
	if (task->stopped)
		hit_undo(task, b);
}

static bool stands_at(struct task *task, uint64_t address)
{
	return task->stopped && !task->has_left_mm && task_regs(task) == 0 &&
	       task->process->arch->pc(&task->regs) == address;
}

/* Where there is no single step, or none for this instruction. What gets here was to be emulated and cannot reach its
 * memory, so that it faults, or was to be copied and has lost its slot: the task runs, and is interrupted when it has
 * gone on. */
static void run_in_place(struct task *task, struct breakpoint *b)
{
	struct process *p = task->process;
	unsigned naps = 0;
	struct stop stop;
	bool has_stopped;

	p->text->slow_steps++;
	if (!halt_others(task))
		return;
	task_set_pc(task, b->address);
	breakpoint_remove(p, b);
	do {
		task_resume(task, 0);
		halt_nap(&naps, PATIENCE_SOON);
		has_stopped = halt_task(task, PATIENCE_HALT, &stop);
	} while (has_stopped && stop.kind == STOP_INTERRUPT && stands_at(task, b->address) && naps < PATIENCE_SOON);
	breakpoint_insert(p, breakpoint_code(b));
	if (!has_stopped)
		return;
	if (stands_at(task, b->address))
		hit_undo(task, b);
	stops_put_back(p->tracer, &stop);
}

bool hit_take_back(struct task *task)
{
	const struct process *p = task->process;

	if (!p || task_regs(task) < 0)
		return false;
	const uint64_t address = p->arch->breakpoint_address(p->arch->pc(&task->regs));
	const struct breakpoint *b = breakpoint_find(p, address);

	if (!b || !b->size || b->unusable || (!task->blocks_trap && !task_hit_by_kernel(task)))
		return false;
	task_block_trap_again(task);
	task_set_pc(task, address);
	return true;
}

void step_over_breakpoint(struct task *task, struct breakpoint *b)
{
	if (!breakpoint_refresh(task->process, b)) {
		task_set_pc(task, b->address);
		task_resume(task, 0);
		return;
	}
	if (b->insn.kind == INSN_EMULATE && emulate(task, b)) {
		task_resume(task, 0);
		return;
	}
	const struct arch *arch = task->process->arch;
	const bool is_in_block = arch->is_in_block && task_regs(task) == 0 && arch->is_in_block(&task->regs);

	if (b->insn.kind == INSN_COPY && !is_in_block &&
	    (slot_prepare(task->process, b) || slot_assign(task->process, b))) {
		slot_enter(task, b->slot);
		task_resume(task, 0);
		return;
	}
	if ((b->insn.can_emulate || is_in_block) && emulate(task, b)) {
		task_resume(task, 0);
		return;
	}
	if (arch->cannot_step || b->insn.cannot_step)
		run_in_place(task, b);
	else
		step_in_place(task, b);
}
