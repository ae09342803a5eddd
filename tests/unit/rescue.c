/* What is said of the processes that were traced when the engine was killed. */
#include "config.h"
#include "engine/rescue.h"
#include "proc/proc.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#define HELD_MS 400 /* longer than anything is waited for that does not end */

/* A process, and its parent, which is its tracer too and keeps it from ending for a while. */
struct held {
	pid_t pid, holder;
};

static pid_t start_pausing(void)
{
	const pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	return pid;
}

static void say(int fd, pid_t pid)
{
	if (write(fd, &pid, sizeof(pid)) != sizeof(pid))
		_exit(3);
}

/* The victim has its signal, and stands where it is about to end. */
static void hold(int fd, int sig)
{
	const pid_t pid = start_pausing();
	int status;

	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)PTRACE_O_TRACEEXIT) < 0) {
		kill(pid, SIGKILL);
		say(fd, -1);
		_exit(0);
	}
	kill(pid, sig);
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) && status >> 16 != PTRACE_EVENT_EXIT)
		ptrace(PTRACE_CONT, pid, NULL, (void *)(long)WSTOPSIG(status));
	say(fd, pid);
	nanosleep(&(struct timespec){.tv_nsec = HELD_MS * 1000000}, NULL);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	waitpid(pid, &status, 0);
	_exit(0);
}

static struct held start_held(int sig)
{
	struct held held = {0};
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	held.holder = fork();
	if (!held.holder)
		hold(ends[1], sig);
	close(ends[1]);
	assert_int_equal(read(ends[0], &held.pid, sizeof(held.pid)), sizeof(held.pid));
	close(ends[0]);
	return held;
}

/* What is said of that process. */
static char *report_of(pid_t pid, bool is_doomed)
{
	struct rescue rescue = {.process_count = 1};
	const int errors = dup(STDERR_FILENO);
	static char said[4096];
	int ends[2];

	rescue.processes = calloc(1, sizeof(*rescue.processes));
	rescue.processes[0] = (struct rescued_process){
		.pid = pid, .handle = process_handle(pid), .is_doomed = is_doomed, .name = "it"};
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	rescue_report(&rescue);
	dup2(errors, STDERR_FILENO);
	close(errors);
	close(ends[1]);
	const ssize_t size = read(ends[0], said, sizeof(said) - 1);

	said[size < 0 ? 0 : size] = '\0';
	close(ends[0]);
	return said;
}

static void expect(const char *said, const char *words)
{
	if (!strstr(said, words))
		fail_msg("\"%s\" is not in: %s", words, said);
}

static void test_lives(void **state)
{
	const pid_t pid = start_pausing();

	(void)state;
	expect(report_of(pid, false), "(it) runs on, untraced");
	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	expect(report_of(pid, false), "(it) runs on, untraced");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_has_ended(void **state)
{
	const pid_t pid = start_pausing();

	(void)state;
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	expect(report_of(pid, false), "(it) has ended");
	expect(report_of(pid, true), "(it) was killed by SIGTRAP");
	waitpid(pid, NULL, 0);
}

/* A task has its signal, and its process is long in ending. */
static void test_is_killed(void **state)
{
	static const int signals[] = {SIGTRAP, SIGKILL};

	(void)state;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		const struct held held = start_held(signals[i]);

		if (held.pid < 0) {
			waitpid(held.holder, NULL, 0);
			print_message("no process can be traced here\n");
			skip();
		}
		expect(report_of(held.pid, false), "(it) has ended");
		waitpid(held.holder, NULL, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lives),
		cmocka_unit_test(test_has_ended),
		cmocka_unit_test(test_is_killed),
	};

	return cmocka_run_group_tests_name("rescue", tests, NULL, NULL);
}
