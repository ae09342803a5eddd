#include "config.h"
#include "breakpoints/step_over.h"
#include "breakpoints/breakpoints.h"
#include "breakpoints/out_of_line_slots.h"
#include "ptrace/halt.h"
#include "ptrace/target_memory.h"
#include "ptrace/pending_stops.h"
#include "ptrace/tasks.h"

#include <errno.h>
#include <sys/uio.h>

/* Steps over a breakpoint without removing it: the task jumps to a copy of the instruction under the breakpoint, or
 * functrace emulates that instruction. If neither is possible, the task steps in place, with all other tasks of the
 * address space stopped. */

static int emulation_read(void *context, uint64_t address, void *data, size_t size)
{
	const struct task *task = context;

	return memory_read(task->process, address, data, size);
}

/* Read and write memory for emulated loads and stores of the program itself. If the program may not access an address,
 * it must get the fault (a garbage collector's write barrier is a SIGSEGV handler). So these functions use
 * process_vm_readv() and process_vm_writev(), which respect the protection; /proc/PID/mem ignores it. */
static int protected_read(void *context, uint64_t address, void *data, size_t size)
{
	const struct task *task = context;
	const struct iovec local = {data, size}, remote = {(void *)(uintptr_t)address, size};

	return process_vm_readv(task->tid, &local, 1, &remote, 1, 0) == (ssize_t)size ? 0 : -EFAULT;
}

static int protected_write(void *context, uint64_t address, const void *data, size_t size)
{
	const struct task *task = context;
	unsigned char byte;

	/* If the bytes were in two pages, the write might reach only the first one. */
	if (address / page_size() != (address + size - 1) / page_size())
		return -EFAULT;
	/* This read makes the kernel grow the stack, as the program's own push would. Otherwise the kernel refuses the
	 * write and prints a message to its log. */
	if (memory_read(task->process, address, &byte, 1) < 0)
		return -EFAULT;
	return memory_write_protected(task->tid, address, data, size);
}

/* Writes memory for an emulated instruction: by process_vm_writev() if /proc/PID/mem cannot be written. */
static int emulation_write(void *context, uint64_t address, const void *data, size_t size)
{
	const struct task *task = context;

	if (memory_write(task->process, address, data, size) == 0)
		return 0;
	return protected_write(context, address, data, size);
}

static bool emulate_original(struct task *task, const struct breakpoint *b)
{
	struct process *p = task->process;
	const bool is_own = b->insn.kind == INSN_COPY;
	const struct arch_memory memory = {is_own ? protected_read : emulation_read,
					   is_own ? protected_write : emulation_write, task};
	struct arch_regs regs = task->regs;

	p->arch->registers.set_pc(&regs, b->address);
	if (p->arch->insns.emulate(&b->insn, &regs, &memory) < 0)
		return false;
	/* Writes only the pc if the instruction changes nothing else and ptrace can write the pc alone. Otherwise
	 * writes all registers; on ARM they include the state of an IT block, which every instruction in the block
	 * changes. */
	if (b->insn.pc_only && p->arch->registers.pc_offset >= 0) {
		task_set_pc(task, p->arch->registers.pc(&regs));
	} else {
		task->regs = regs;
		task_set_regs(task);
	}
	return true;
}

/* Abandons a step that blocks in the kernel: in a blocking system call, or for a page that another thread has to
 * provide. The processor has already fetched the instruction, so the breakpoint may be inserted again. The stopped
 * threads run again, because one of them may have to end the wait. The step's SIGTRAP comes later and is dropped. If
 * the instruction waited for a page, the task runs it again and hits the breakpoint again; the first hit is marked as
 * undone, so that hit_redo() recognises the second one. */
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
		/* The step is done. A pending ptrace event is not lost: the kernel reports it after the resume. If the
		 * task blocks SIGTRAP, the step's SIGTRAP has unblocked the signal, as a hit does, so the mask is
		 * restored. After a system call the mask is not restored, because the call may have changed it. */
		if (has_mask && !b->insn.is_syscall)
			task_set_signal_mask(task, mask);
		task_resume(task, 0);
		return;
	}
	/* A signal came before the instruction ran, or the task was killed. If the task lives, it may hit the
	 * breakpoint again. hit_undo() remembers the first hit, on which functrace has already acted. */
	stops_put_back(t, &stop);
	if (task->stopped)
		hit_undo(task, b);
}

static bool is_stopped_at(struct task *task, uint64_t address)
{
	return task->stopped && !task->has_left_mm && task_regs(task) == 0 &&
	       task->process->arch->registers.pc(&task->regs) == address;
}

/* Replaces step_in_place() if the processor cannot single-step, or cannot single-step this instruction. The instruction
 * has no slot (perhaps the slot is lost) and could not be emulated (perhaps the program cannot access the memory that
 * the instruction uses, and will fault). Resumes and interrupts the task until its pc has left the instruction. */
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
	} while (has_stopped && stop.kind == STOP_INTERRUPT && is_stopped_at(task, b->address) && naps < PATIENCE_SOON);
	breakpoint_insert(p, breakpoint_code(b));
	if (!has_stopped)
		return;
	if (is_stopped_at(task, b->address))
		hit_undo(task, b);
	stops_put_back(p->tracer, &stop);
}

bool hit_take_back(struct task *task)
{
	const struct process *p = task->process;

	if (!p || task_regs(task) < 0)
		return false;
	const uint64_t address = p->arch->breakpoint.hit_address(p->arch->registers.pc(&task->regs));
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
	if (b->insn.kind == INSN_EMULATE && emulate_original(task, b)) {
		task_resume(task, 0);
		return;
	}
	const struct arch *arch = task->process->arch;
	const bool is_in_block =
		arch->code_state.is_in_block && task_regs(task) == 0 && arch->code_state.is_in_block(&task->regs);

	if (b->insn.kind == INSN_COPY && !is_in_block &&
	    (slot_prepare(task->process, b) || slot_assign(task->process, b))) {
		slot_enter(task, b->slot);
		task_resume(task, 0);
		return;
	}
	if ((b->insn.can_emulate || is_in_block) && emulate_original(task, b)) {
		task_resume(task, 0);
		return;
	}
	if (arch->insns.cannot_step || b->insn.cannot_step)
		run_in_place(task, b);
	else
		step_in_place(task, b);
}
