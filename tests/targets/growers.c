/* A parent and its children, one at first and another one for each byte of the standard input, allocate and keep
 * blocks: the parent of 33700 bytes, children of 33701. All end when the input ends. Prints the ids of the children. */
#include "target.h"
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

__attribute__((noinline)) static void *grow_parent(void)
{
	void *volatile p = malloc(33700);

	return p;
}

__attribute__((noinline)) static void *grow_child(void)
{
	void *volatile p = malloc(33701);

	return p;
}

static pid_t add_child(void)
{
	const pid_t pid = fork();

	if (pid) {
		dprintf(STDOUT_FILENO, "%d\n", (int)pid);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		grow_child();
		poll(NULL, 0, 5);
	}
}

int main(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	pid_t children[16];
	size_t count = 0;
	char byte;

	children[count++] = add_child();
	for (;;) {
		grow_parent();
		if (!poll(&input, 1, 5))
			continue;
		if (read(STDIN_FILENO, &byte, 1) <= 0)
			break;
		if (count < 16)
			children[count++] = add_child();
	}
	for (size_t i = 0; i < count; i++) {
		kill(children[i], SIGTERM);
		waitpid(children[i], NULL, 0);
	}
	return 0;
}
