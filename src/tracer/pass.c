#include "config.h"
#include "tracer/stop.h"
#include "base/msg.h"

#include <errno.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#define SMALLEST_PAGE 4096u

/* Getting past a breakpoint without lifting it: a jump into its copy, or doing the instruction here. Only what
 * neither can do is stepped in place, with all tasks of the address space stopped. */

static int emulation_read(void *context, uint64_t address, void *data, size_t size)
{
	const struct task *task = context;

	return memory_read(task->process, address, data, size);
}

static int emulation_write(void *context, uint64_t address, const void *data, size_t size)
{
	const struct task *task = context;

	return memory_write(task->process, address, data, size);
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
	if (address / SMALLEST_PAGE != (address + size - 1) / SMALLEST_PAGE)
		return -EFAULT;
	/* This read makes a stack grow, as the program's own push would; a write without it the kernel refuses, and
	 * complains of in its log. */
	if (memory_read(task->process, address, &byte, 1) < 0)
		return -EFAULT;
	return process_vm_writev(task->tid, &local, 1, &remote, 1, 0) == (ssize_t)size ? 0 : -EFAULT;
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
	if (b->insn.pc_only) {
		task_set_pc(task, p->arch->pc(&regs));
	} else {
		task->regs = regs;
		task_set_regs(task);
	}
	return true;
}

void task_put_back(struct tracer *t, struct task *task, const struct stop *stop)
{
	task->stopped = stop->kind != STOP_GONE;
	task->elsewhere = stop->kind == STOP_EXEC || stop->kind == STOP_EXIT || stop->kind == STOP_GONE;
	task->regs_known = task->listening = false;
	collect_later(t, stop);
}

void task_keep_stop(struct task *task, int status)
{
	const struct stop stop = stop_decode(task->tid, status, task->phase);

	task_put_back(task->process->tracer, task, &stop);
}

/* Takes what the other tasks of the address space report. How many have still to stop. */
static size_t take_others(struct tracer *t, const struct task *task)
{
	const struct hash_entry *entry;
	size_t running = 0;
	int status;

	for (size_t i = 0; (entry = hash_next(&t->tasks, &i));) {
		struct task *other = (struct task *)(uintptr_t)entry->value;

		/* One that ends runs none of the program any more; a leader's end is not even told before
		 * that of all others. */
		if (other == task || other->process != task->process || other->phase != PHASE_LIVE || other->stopped ||
		    other->vforking || other->exiting)
			continue;
		const pid_t tid = collect_wait(t, other->tid, WNOHANG, &status);

		if (tid == other->tid)
			task_keep_stop(other, status);
		else
			running += tid == 0;
	}
	return running;
}

#define PATIENCE 4000 /* naps of 50 us and more */

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

pid_t halt_one(struct process *p)
{
	const struct hash_entry *entry;
	int status;

	for (size_t i = 0; (entry = hash_next(&p->tracer->tasks, &i));) {
		struct task *task = (struct task *)(uintptr_t)entry->value;

		if (task->process != p || task->phase != PHASE_LIVE || task->vforking || task->exiting ||
		    task->elsewhere || (task->stopped && !task->listening) ||
		    ptrace(PTRACE_INTERRUPT, task->tid, NULL, NULL) < 0)
			continue;
		task->interrupted = true;
		for (unsigned n = 0; n < PATIENCE; n++) {
			const pid_t tid = collect_wait(p->tracer, task->tid, WNOHANG, &status);

			if (tid == task->tid)
				task_keep_stop(task, status);
			if (tid == task->tid && !task->elsewhere)
				return tid;
			if (tid)
				break;
			nap();
		}
	}
	return 0;
}

/* Stops every other task that shares the memory. Their stops that are not ours are kept for later. Never waits
 * without an end: a task deep in the kernel (a parent in vfork, a core dump) stops only on its way back
 * to the program, and who is killed may wait for others' ends to be taken. False if the task itself has died. */
static bool stop_others(struct tracer *t, struct task *task)
{
	const struct hash_entry *entry;
	int status;

	for (size_t i = 0; (entry = hash_next(&t->tasks, &i));) {
		struct task *other = (struct task *)(uintptr_t)entry->value;

		if (other->process == task->process && other->phase == PHASE_LIVE && !other->stopped &&
		    !other->vforking && !other->exiting) {
			ptrace(PTRACE_INTERRUPT, other->tid, NULL, NULL);
			other->interrupted = true;
		}
	}
	for (unsigned n = 0; n < PATIENCE && take_others(t, task); n++) {
		if (collect_wait(t, task->tid, WNOHANG, &status) == task->tid) {
			task_keep_stop(task, status);
			return false;
		}
		nap();
	}
	return true;
}

int task_wait(struct task *task)
{
	struct tracer *t = task->process->tracer;
	int status;
	pid_t tid;

	while (!(tid = collect_wait(t, task->tid, WNOHANG, &status))) {
		const struct hash_entry *entry;

		sched_yield();
		for (size_t i = 0; (entry = hash_next(&t->tasks, &i));) {
			struct task *other = (struct task *)(uintptr_t)entry->value;
			int end;

			if (other != task && other->process == task->process && other->stopped &&
			    other->phase == PHASE_LIVE && collect_wait(t, other->tid, WNOHANG, &end) == other->tid)
				task_keep_stop(other, end);
		}
	}
	return tid == task->tid ? status : 0;
}

static void step_in_place(struct task *task, struct breakpoint *b)
{
	struct process *p = task->process;
	struct tracer *t = p->tracer;
	const pid_t tid = task->tid;

	p->counts.slow_steps++;
	if (!stop_others(t, task))
		return;
	task_set_pc(task, b->address);
	breakpoint_remove(p, b);
	ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL);
	task->regs_known = false;
	task->stopped = false;
	const int status = task_wait(task);

	breakpoint_insert(p, b->address);
	const struct stop stop = stop_decode(tid, status, PHASE_LIVE);

	if (stop.kind == STOP_TRAP) {
		/* The step is done, unless the next instruction's breakpoint was reported at once: the
		 * pc tells. A pending event of ours is not lost: it comes after this. */
		task->stopped = true;
		task_resume(task, 0);
		return;
	}
	/* A signal came instead of the step, or the task has died: the hit is known already. */
	task->stopped = stop.kind != STOP_GONE;
	if (task->stopped)
		task_undo(task, b);
	collect_later(t, &stop);
}

void pass_breakpoint(struct task *task, struct breakpoint *b)
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
	if (b->insn.kind == INSN_COPY && (slot_usable(task->process, b) || slot_assign(task->process, b))) {
		task_set_pc(task, b->slot->address);
		b->slot->users++;
		b->slot->used_lately = true;
		task->slot = b->slot;
		task_resume(task, 0);
		return;
	}
	if (b->insn.can_emulate && emulate(task, b)) {
		task_resume(task, 0);
		return;
	}
	step_in_place(task, b);
}
