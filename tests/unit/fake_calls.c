/* The tracer's system calls, answered by the fake kernel: the linker's --wrap replaces the C library's functions by
 * these, in this program only. Calls that do not concern the fake are passed to the real function. */
#include "config.h"
#include "arch/x86/x86_insn.h"
#include "tests/unit/fake_kernel.h"
#include "tests/unit/fake_world.h"

#include <elf.h>
#include <errno.h>
#include <linux/kcmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

long __wrap_syscall(long number, ...);
int __wrap_kill(pid_t pid, int sig);
ssize_t __wrap_sendmsg(int socket, const struct msghdr *message, int flags);
int __wrap_nanosleep(const struct timespec *wanted, struct timespec *left);
int __wrap_sched_yield(void);
int __wrap_sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout);
int __wrap_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_setitimer(int which, const struct itimerval *new, struct itimerval *old);
int __wrap_sigaction(int sig, const struct sigaction *new, struct sigaction *old);
ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t offset);
ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long local_count,
				const struct iovec *remote, unsigned long remote_count, unsigned long flags);
ssize_t __wrap_process_vm_writev(pid_t pid, const struct iovec *local, unsigned long local_count,
				 const struct iovec *remote, unsigned long remote_count, unsigned long flags);
ssize_t __real_pwrite(int fd, const void *data, size_t size, off_t offset);

static uint64_t now_ns;
static pid_t child_signal; /* the child of the pending SIGCHLD, of which the kernel queues only one; 0: none */
static void (*alarm_handler)(int);
static unsigned waits;

#define WAITS_MAX 2000000u

void fake_calls_reset(void)
{
	now_ns = 1000000000;
	child_signal = 0;
	alarm_handler = NULL;
	waits = 0;
}

void fake_child_signal(pid_t tid)
{
	if (!child_signal)
		child_signal = tid;
}

void fake_alarm(void)
{
	if (alarm_handler)
		alarm_handler(SIGALRM);
	else
		fake_fail("no handler for SIGALRM is installed");
}

/* ---- Waiting ---- */

static void wait_status(siginfo_t *info, const struct fake_task *task)
{
	const int status = task->status;

	info->si_pid = task->tid;
	info->si_code = task->state != FAKE_ZOMBIE ? CLD_TRAPPED : WIFEXITED(status) ? CLD_EXITED : CLD_KILLED;
	info->si_status = info->si_code == CLD_TRAPPED  ? status >> 8
			  : info->si_code == CLD_EXITED ? WEXITSTATUS(status)
							: WTERMSIG(status);
}

static long wait_id(int type, pid_t which, siginfo_t *info, int flags)
{
	const pid_t who = type == P_ALL ? -1 : which;
	struct fake_task *task;

	while (!fake_has_failed() && !(task = fake_ready(who))) {
		if (++waits > WAITS_MAX)
			fake_fail("the tracer waits for ever");
		else if (!fake_has_children(who))
			return fake_failed(ECHILD);
		else if (flags & WNOHANG)
			return info->si_pid = 0;
		else if (!fake_advance()) {
			if (world_is_let_go())
				fake_fail("the tracer is to detach, and waits for ever");
			return fake_failed(ECHILD);
		}
	}
	if (fake_has_failed())
		return fake_failed(ECHILD);
	wait_status(info, task);
	fake_point("taking %d", task->tid);
	fake_taken(task);
	fake_point("taken %d", info->si_pid);
	return 0;
}

static long compare(pid_t a, pid_t b)
{
	fake_point("comparing %d %d", a, b);
	const struct fake_task *one = fake_find(a), *other = fake_find(b);

	return one && other ? one->memory != other->memory : fake_failed(ESRCH);
}

static long signal_task(pid_t tgid, pid_t tid, int sig)
{
	const struct fake_task *task = fake_find(tid);

	if (sig)
		fake_fail("tgkill with signal %d", sig);
	return task && task->tgid == tgid ? 0 : fake_failed(ESRCH);
}

long __wrap_syscall(long number, ...)
{
	long a[4] = {0};
	va_list args;

	va_start(args, number);
	for (int i = 0; i < (number == SYS_waitid ? 4 : number == SYS_tgkill ? 3 : 2); i++)
		a[i] = va_arg(args, long);
	va_end(args);
	switch (number) {
	case SYS_waitid:
		return wait_id((int)a[0], (pid_t)a[1], (siginfo_t *)a[2], (int)a[3]);
	case SYS_kcmp:
		return compare((pid_t)a[0], (pid_t)a[1]);
	case SYS_tgkill:
		return signal_task((pid_t)a[0], (pid_t)a[1], (int)a[2]);
	default:
		fake_fail("system call %ld is not known here", number);
		return fake_failed(ENOSYS);
	}
}

int __wrap_kill(pid_t pid, int sig)
{
	if (world_signalled(pid, sig))
		return 0;
	fake_begin("KILL %d%s", pid, fake_with_signal(sig));
	if (!fake_find(pid))
		return (int)fake_finished(ESRCH);
	if (sig == SIGKILL)
		fake_kill(pid);
	return (int)fake_finished(0);
}

/* The visible process and the guardian get each message at once. */
ssize_t __wrap_sendmsg(int socket, const struct msghdr *message, int flags)
{
	(void)flags;
	world_notified(socket);
	return (ssize_t)message->msg_iov->iov_len;
}

/* ---- Time ---- */

int __wrap_nanosleep(const struct timespec *wanted, struct timespec *left)
{
	(void)left;
	now_ns += (uint64_t)wanted->tv_sec * 1000000000u + (uint64_t)wanted->tv_nsec;
	fake_point("napping");
	fake_advance();
	return 0;
}

int __wrap_sched_yield(void)
{
	now_ns += 1000;
	fake_advance();
	return 0;
}

int __wrap_sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	(void)set;
	if (!child_signal)
		fake_advance();
	if (!child_signal) {
		now_ns += (uint64_t)timeout->tv_nsec;
		return (int)fake_failed(EAGAIN);
	}
	*info = (siginfo_t){.si_signo = SIGCHLD};
	info->si_pid = child_signal;
	child_signal = 0;
	return SIGCHLD;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *now)
{
	(void)id;
	now_ns += 100;
	*now = (struct timespec){(time_t)(now_ns / 1000000000u), (long)(now_ns % 1000000000u)};
	return 0;
}

/* Ignores the time, because the alarm rings when the sequence says so. A time of 0 removes the handler. */
int __wrap_setitimer(int which, const struct itimerval *new, struct itimerval *old)
{
	(void)which, (void)old;
	if (!new->it_value.tv_usec)
		alarm_handler = NULL;
	return 0;
}

int __wrap_sigaction(int sig, const struct sigaction *new, struct sigaction *old)
{
	(void)old;
	if (sig == SIGALRM && new)
		alarm_handler = new->sa_handler;
	return 0;
}

/* ---- Memory ---- */

ssize_t __wrap_pwrite(int fd, const void *data, size_t size, off_t offset)
{
	struct fake_memory *memory = fake_memory_of_fd(fd);

	return memory ? fake_memory_write(memory, (uint64_t)offset, data, size, 0)
		      : __real_pwrite(fd, data, size, offset);
}

ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long local_count,
				const struct iovec *remote, unsigned long remote_count, unsigned long flags)
{
	const struct fake_task *task = fake_find(pid);

	(void)local_count, (void)remote_count, (void)flags;
	if (!task || !task->memory)
		return fake_failed(ESRCH);
	fake_memory_read(task->memory, (uintptr_t)remote->iov_base, local->iov_base, local->iov_len);
	return (ssize_t)local->iov_len;
}

ssize_t __wrap_process_vm_writev(pid_t pid, const struct iovec *local, unsigned long local_count,
				 const struct iovec *remote, unsigned long remote_count, unsigned long flags)
{
	const struct fake_task *task = fake_find(pid);

	(void)local_count, (void)remote_count, (void)flags;
	if (!task || !task->memory)
		return fake_failed(ESRCH);
	if (task->no_stack)
		return fake_failed(EFAULT);
	fake_memory_put(task->memory, (uintptr_t)remote->iov_base, local->iov_base, local->iov_len);
	return (ssize_t)local->iov_len;
}
