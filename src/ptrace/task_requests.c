/* ptrace's requests for tasks, and the signals at which they have stopped: see tasks.h. */
#include "config.h"
#include "ptrace/tasks.h"
#include "arch/abi.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SUSPEND_SECCOMP (1ul << 21) /* PTRACE_O_SUSPEND_SECCOMP, which musl's headers lack */

static void count_resumed(const struct task *task)
{
	if (task->process)
		task->process->resumed++;
}

void task_woken(struct task *task)
{
	task->stopped = task->is_stepping = false;
	task->regs_known = false;
	task->text_serial = task->process ? task->process->text_serial : 0;
	count_resumed(task);
}

void task_resume(struct task *task, int sig)
{
	/* ESRCH: the task has been killed meanwhile; its end is still reported by a wait. */
	task_woken(task);
	ptrace(PTRACE_CONT, task->tid, NULL, (void *)(long)sig);
}

int task_seize(pid_t tid)
{
	return ptrace(PTRACE_SEIZE, tid, NULL, task_options) < 0 ? -errno : 0;
}

void task_resume_stranger(pid_t tid)
{
	ptrace(PTRACE_CONT, tid, NULL, NULL);
}

bool task_interrupt(struct task *task)
{
	return ptrace(PTRACE_INTERRUPT, task->tid, NULL, NULL) == 0;
}

bool task_listen(struct task *task)
{
	task->listening = ptrace(PTRACE_LISTEN, task->tid, NULL, NULL) == 0;
	return task->listening;
}

static bool run_on(struct task *task, int request)
{
	task->regs_known = false;
	count_resumed(task);
	task->stopped = ptrace((enum __ptrace_request)request, task->tid, NULL, NULL) < 0;
	return !task->stopped;
}

bool task_step(struct task *task)
{
	return run_on(task, PTRACE_SINGLESTEP);
}

bool task_run_to_syscall(struct task *task)
{
	return run_on(task, PTRACE_SYSCALL);
}

void task_detach(struct task *task, int sig)
{
	ptrace(PTRACE_DETACH, task->tid, NULL, (void *)(long)sig);
}

bool task_suspend_seccomp(struct task *task, bool suspended)
{
	return ptrace(PTRACE_SETOPTIONS, task->tid, NULL, task_options | (suspended ? SUSPEND_SECCOMP : 0)) == 0;
}

bool task_signal_mask(struct task *task, uint64_t *mask)
{
	return ptrace(PTRACE_GETSIGMASK, task->tid, (void *)sizeof(*mask), mask) == 0;
}

void task_set_signal_mask(struct task *task, uint64_t mask)
{
	ptrace(PTRACE_SETSIGMASK, task->tid, (void *)sizeof(mask), &mask);
}

/* Blocks SIGTRAP again, and sends the program's own SIGTRAP again if the hit has consumed it. This happens if the task
 * has sent itself a SIGTRAP while it blocked the signal: the SIGTRAP is still pending when a hit comes. The kernel then
 * does not queue the hit's SIGTRAP (legacy_queue() in kernel/signal.c), and the pending one stops the task, with its
 * own siginfo. The SIGTRAP that is sent again stays pending, because the signal is blocked by then. */
void task_block_trap_again(struct task *task)
{
	siginfo_t info;
	uint64_t mask;

	if (!task->blocks_trap || !task_signal_mask(task, &mask))
		return;
	task_set_signal_mask(task, mask | 1ull << (SIGTRAP - 1));
	if (task_siginfo(task->tid, &info) && info.si_code <= 0)
		syscall(SYS_tgkill, task->tgid, task->tid, SIGTRAP);
}

bool task_siginfo(pid_t tid, siginfo_t *info)
{
	return ptrace(PTRACE_GETSIGINFO, tid, NULL, info) == 0;
}

void task_set_siginfo(struct task *task, const siginfo_t *info)
{
	ptrace(PTRACE_SETSIGINFO, task->tid, NULL, info);
}

pid_t task_event_message(pid_t tid)
{
	unsigned long message = 0;

	return ptrace(PTRACE_GETEVENTMSG, tid, NULL, &message) == 0 ? (pid_t)message : 0;
}

bool task_is_at_its_end(const struct task *task)
{
	siginfo_t info;

	return task_siginfo(task->tid, &info) && info.si_code == (SIGTRAP | PTRACE_EVENT_EXIT << 8);
}

static bool is_hit(const struct arch *arch, const siginfo_t *info)
{
	return info->si_code == arch->breakpoint.hit_code ||
	       (arch->breakpoint.second && info->si_code == arch->breakpoint.second_code);
}

bool task_hit_by_kernel(const struct task *task)
{
	siginfo_t info;

	return task_siginfo(task->tid, &info) && is_hit(task->process->arch, &info);
}

bool task_has_trap_queued(const struct task *task)
{
	const struct arch *arch = task->process ? task->process->arch : arch_native();
	struct __ptrace_peeksiginfo_args args = {.off = 0, .flags = 0, .nr = 16};
	siginfo_t infos[16];

	for (;;) {
		const long got = ptrace(PTRACE_PEEKSIGINFO, task->tid, &args, infos);

		if (got <= 0)
			return false;
		for (long i = 0; i < got; i++)
			if (infos[i].si_signo == SIGTRAP && is_hit(arch, &infos[i]))
				return true;
		args.off += (uint64_t)got;
	}
}
