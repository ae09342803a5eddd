#include "config.h"
#include "tracer/stop.h"
#include "base/msg.h"

#include <errno.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

/* Getting past a breakpoint without lifting it: a jump into its copy, or doing the instruction here. Only what
 * neither can do is stepped in place, with all tasks of the address space stopped. */

static int emulation_read(void *context, uint64_t address, void *data, size_t size)
{
	return memory_read(context, address, data, size);
}

static int emulation_write(void *context, uint64_t address, const void *data, size_t size)
{
	return memory_write(context, address, data, size);
}

static bool emulate(struct task *task, const struct breakpoint *b)
{
	struct process *p = task->process;
	const struct arch_memory memory = {emulation_read, emulation_write, p};
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

/* Stops every other task that shares the memory. Their stops that are not ours are kept for later. */
static void stop_others(struct tracer *t, struct task *task)
{
	const struct hash_entry *entry;
	bool waiting = true;

	for (size_t i = 0; (entry = hash_next(&t->tasks, &i));) {
		struct task *other = (struct task *)(uintptr_t)entry->value;

		if (other->process == task->process && other->phase == PHASE_LIVE &&
		    !other->stopped && !other->vforking) {
			ptrace(PTRACE_INTERRUPT, other->tid, NULL, NULL);
			other->interrupted = true;
		}
	}
	while (waiting) {
		waiting = false;
		for (size_t i = 0; (entry = hash_next(&t->tasks, &i));) {
			const struct task *other = (const struct task *)(uintptr_t)entry->value;
			int status;

			if (other->process != task->process || other->phase != PHASE_LIVE ||
			    other->stopped || other->vforking)
				continue;
			const pid_t tid = wait4(other->tid, &status, __WALL, NULL);

			if (tid != other->tid) /* it has gone without our seeing it */
				continue;
			struct task *found = task_find(t, tid);
			const struct stop stop = stop_decode(tid, status, found->phase);

			found->stopped = true;
			found->regs_known = false;
			collect_later(t, &stop);
			waiting = true;
		}
	}
}

static void step_in_place(struct task *task, struct breakpoint *b)
{
	struct process *p = task->process;
	struct tracer *t = p->tracer;
	const pid_t tid = task->tid;
	int status;

	p->counts.slow_steps++;
	stop_others(t, task);
	task_set_pc(task, b->address);
	breakpoint_remove(p, b);
	ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL);
	task->regs_known = false;
	task->stopped = false;
	if (wait4(tid, &status, __WALL, NULL) != tid)
		status = 0;
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
	if (!b->inserted) {
		task_set_pc(task, b->address);
		task_resume(task, 0);
		return;
	}
	if (b->insn.kind == INSN_EMULATE && emulate(task, b)) {
		task_resume(task, 0);
		return;
	}
	if (b->insn.kind == INSN_COPY && (b->slot || slot_assign(task->process, b))) {
		task_set_pc(task, b->slot->address);
		b->slot->users++;
		task->slot = b->slot;
		task_resume(task, 0);
		return;
	}
	step_in_place(task, b);
}
