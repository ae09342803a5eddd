/* regress_vforktrap: a program sets a handler for SIGTRAP. Its next traced call is made by a vfork child, which has its
 * own signal actions. The parent's handler and mask must not change. */
#include "target.h"
#include <sys/wait.h>

static volatile sig_atomic_t handled;

static void on_trap(int sig)
{
	(void)sig;
	handled++;
}

static void pairs(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		void *p = malloc(32401);

		KEEP(p);
		free(p);
	}
}

int main(void)
{
	const struct sigaction action = {.sa_handler = on_trap};
	sigset_t mask;
	int status, to_child[2], from_child[2];
	char byte = 'x';

	gate();
	CHECK(pipe2(to_child, O_CLOEXEC) == 0 && pipe2(from_child, O_CLOEXEC) == 0);
	CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
	const pid_t pid = vfork();

	if (!pid) {
		pairs(1);
		dup2(to_child[0], STDIN_FILENO);
		dup2(from_child[1], STDOUT_FILENO);
		execl("/bin/cat", "cat", (char *)NULL);
		_exit(1);
	}
	CHECK(pid > 0);
	for (unsigned i = 0; i < 3; i++) {
		pairs(2);
		raise(SIGTRAP);
	}
	/* Waits for cat's answer: a child that is killed before functrace has seen its exec has no trace. */
	CHECK(write(to_child[1], &byte, 1) == 1 && read(from_child[0], &byte, 1) == 1);
	CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid && status == SIGKILL);
	CHECK(sigprocmask(SIG_BLOCK, NULL, &mask) == 0);
	say("handled %d, blocked %d", (int)handled, sigismember(&mask, SIGTRAP));
	expect_alloc(7, 32401, "malloc");
	expect_release(7, 32401, "free");
	gate();
	return 0;
}
