/* System calls that fail with EINTR only because the tracer interrupted them are restarted. */
#include "config.h"
#include "unit_test.h"

#include <linux/aio_abi.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/util.h"
#include "tests/unit/arch_arena.h"

static bool keep(struct arch_regs *regs)
{
	(void)regs;
	return false;
}

static bool restart(struct arch_regs *regs)
{
	return arch_native()->syscalls.restart(regs);
}

static int in_epoll_wait(void)
{
	struct epoll_event event;
	const int fd = epoll_create1(0);

	return fd < 0 ? -1 : (epoll_wait(fd, &event, 1, -1), 0);
}

static int in_epoll_pwait(void)
{
	struct epoll_event event;
	const int fd = epoll_create1(0);
	sigset_t none;

	sigemptyset(&none);
	return fd < 0 ? -1 : (epoll_pwait(fd, &event, 1, -1, &none), 0);
}

static int in_sigwaitinfo(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	syscall(SYS_rt_sigtimedwait, &set, NULL, NULL, 8);
	return 0;
}

static int semaphores = -1; /* the test removes the set, because the children are killed */

static int in_semop(void)
{
	struct sembuf take = {.sem_num = 0, .sem_op = -1, .sem_flg = 0};

	if (semaphores >= 0)
		semop(semaphores, &take, 1);
	return semaphores < 0 ? -1 : 0;
}

static int in_io_getevents(void)
{
	aio_context_t context = 0;
	struct io_event event;

	if (syscall(SYS_io_setup, 1, &context))
		return -1;
	syscall(SYS_io_getevents, context, 1, 1, &event, NULL);
	return 0;
}

/* Returns one end of a connection that has a timeout for receiving. */
static int timed_socket(void)
{
	const struct timeval timeout = {.tv_sec = 1000};
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) ||
	    setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)))
		return -1;
	return fds[0];
}

static int in_recv(void)
{
	const int fd = timed_socket();
	char byte;

	return fd < 0 ? -1 : (recv(fd, &byte, 1, 0), 0);
}

static int in_read(void)
{
	const int fd = timed_socket();
	char byte;

	if (fd < 0)
		return -1;
	if (read(fd, &byte, 1) == 1)
		return -1;
	return 0;
}

/* The kernel itself restarts this call; functrace does not. */
static int in_pause(void)
{
	pause();
	return 0;
}

static void test_interrupted_system_calls_are_restarted(void **state)
{
	static const struct {
		const char *name;
		int (*function)(void);
		enum arena_interrupted untouched;
	} calls[] = {
		{"epoll_wait", in_epoll_wait, INTERRUPTED_ENDED},
		{"epoll_pwait", in_epoll_pwait, INTERRUPTED_ENDED},
		{"rt_sigtimedwait", in_sigwaitinfo, INTERRUPTED_ENDED},
		{"semop", in_semop, INTERRUPTED_ENDED},
		{"io_getevents", in_io_getevents, INTERRUPTED_ENDED},
		{"recv", in_recv, INTERRUPTED_ENDED},
		{"read", in_read, INTERRUPTED_ENDED},
		{"pause", in_pause, INTERRUPTED_SLEEPS},
	};
	unsigned failed = 0, tried = 0;

	semaphores = semget(IPC_PRIVATE, 1, 0600);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		const enum arena_interrupted untouched = arena_interrupt(calls[i].function, keep, 0);

		print_message("%s: %s\n", calls[i].name,
			      untouched == INTERRUPTED_CANNOT  ? "cannot be tried here"
			      : untouched == INTERRUPTED_ENDED ? "EINTR"
							       : "restarted by the kernel");
		if (untouched == INTERRUPTED_CANNOT)
			continue;
		tried++;
		failed += untouched != calls[i].untouched;
		failed += arena_interrupt(calls[i].function, restart, 0) != INTERRUPTED_SLEEPS;
	}
	semctl(semaphores, 0, IPC_RMID);
	if (!tried)
		skip();
	assert_int_equal(failed, 0);
}

static void on_signal(int signal)
{
	(void)signal;
}

static int in_epoll_wait_with_handler(void)
{
	signal(SIGUSR1, on_signal);
	return in_epoll_wait();
}

/* Tests signals that arrive while the task is stopped. If a signal has a handler, the call fails with EINTR, as in an
 * untraced run. A signal that is ignored by default wakes the call only because the task is traced, so restart() must
 * make the call sleep again. */
static void test_only_handled_signals_end_system_calls(void **state)
{
	const enum arena_interrupted handled = arena_interrupt(in_epoll_wait_with_handler, restart, SIGUSR1);

	if (handled == INTERRUPTED_CANNOT)
		skip();
	assert_int_equal(handled, INTERRUPTED_ENDED);
	assert_int_equal(arena_interrupt(in_epoll_wait, restart, SIGWINCH), INTERRUPTED_SLEEPS);
	assert_int_equal(arena_interrupt(in_epoll_wait, keep, SIGWINCH), INTERRUPTED_ENDED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_interrupted_system_calls_are_restarted),
					   cmocka_unit_test(test_only_handled_signals_end_system_calls)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
