#include "config.h"
#include "tracer/wait_for_births.h"
#include "tracer/task_life.h"
#include "tracer/seize_stops.h"
#include "ptrace/halt.h"
#include "ptrace/tasks.h"
#include "proc/proc.h"

/* Waits for the tasks that were being created while functrace attached to a process.
 *
 * Whether a fork's or a clone's child is traced is decided when the call begins (kernel_clone() in kernel/fork.c), long
 * before the memory is copied or the thread can be seen. A task that was in such a call when it was seized creates an
 * untraced child, which would die of SIGTRAP at a breakpoint that is inserted meanwhile. The task's next stop proves
 * that the call is over. Only a task in state R or, if it waits for a lock inside the call, in state D can be inside
 * such a call. */

static bool may_be_forking(const struct task *task, bool *locked)
{
	struct proc_stat stat;

	if (!proc_stat(task->tid, &stat))
		return false;
	*locked = stat.state == 'D';
	return stat.state == 'R' || stat.state == 'D';
}

/* Returns true if the task, which is in state D, is in vfork, clone or clone3. Then it waits until its child, which
 * shares the memory, execs or ends. */
static bool waits_in_vfork(const struct task *task)
{
	const struct arch *arch = task->process->arch;
	uint64_t pc;
	long number;

	if (!proc_syscall(task->tid, &number, &pc))
		return false;
	for (size_t i = 0; i < ARCH_CLONE_CALLS; i++)
		if (arch->syscalls.clone[i] == number)
			return true;
	return false;
}

static size_t interrupt_forking(const struct process *p)
{
	size_t count = 0;
	bool locked;

	FOR_EACH_TASK(task, p) {
		if (task->life->is_settled)
			continue;
		task->life->is_settled = task->phase != PHASE_LIVE || task->stopped || task->exit_event_seen ||
					 !may_be_forking(task, &locked) || !task_interrupt(task);
		task->interrupted = !task->life->is_settled;
		count += !task->life->is_settled;
	}
	return count;
}

/* Returns true if births_wait() need not wait for the task any more. A task that is in state D even after PATIENCE_SOON
 * is in vfork, or waits for a lock that is not freed soon. */
static bool try_settle(struct tracer *t, struct task *task, unsigned naps, bool has_sharers)
{
	bool locked = false;
	int status;

	/* The task's stop was already collected (seize_take_stops()), or no stop will come. */
	if (task->stopped || task->exit_event_seen || !task->interrupted)
		return true;
	const pid_t tid = halt_look(task, &status);

	if (tid == task->tid)
		seize_put_off(t, tid, status);
	if (tid != 0 || naps < PATIENCE_SOON || !may_be_forking(task, &locked) || !locked)
		return tid != 0;
	task->vforking = has_sharers && waits_in_vfork(task);
	return task->vforking || naps >= PATIENCE_HALT;
}

/* Takes the stops of tasks that are not settled, and marks those for which births_wait() need not wait any more as
 * settled. Returns the number of tasks that are still not settled. */
static size_t take_stops(const struct process *p, unsigned naps, bool has_sharers)
{
	size_t left = 0;

	FOR_EACH_TASK(task, p) {
		if (task->life->is_settled)
			continue;
		task->life->is_settled = try_settle(p->tracer, task, naps, has_sharers);
		left += !task->life->is_settled;
	}
	return left;
}

void births_wait(const struct process *p, bool has_sharers)
{
	unsigned naps = 0;

	if (!interrupt_forking(p))
		return;
	while (take_stops(p, naps, has_sharers) && halt_nap(&naps, PATIENCE_BIRTH)) {
		/* A task in an execve waits for the exits of settled tasks, so functrace collects these exits. */
		if (naps > PATIENCE_SOON)
			seize_take_stops(p->tracer);
	}
}

void birth_unsettle(struct task *task)
{
	task->life->is_settled = false;
}

void births_unsettle(const struct process *p)
{
	FOR_EACH_TASK(task, p)
		if (task->interrupted && !task->stopped && !task->exit_event_seen && !task->vforking)
			task->life->is_settled = false;
}
