/* dispatched: gets its system calls as SIGSYS (syscall user dispatch, as Wine does) while it calls malloc and free. */
#include "target.h"
#include <signal.h>
#include <sys/prctl.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif
#define ROUNDS 20

static volatile char selector;
static volatile int caught;

static void on_call(int sig)
{
	(void)sig;
	selector = 0;
	caught++;
}

int main(void)
{
	const struct sigaction action = {.sa_handler = on_call};
	void *blocks[ROUNDS];

	sigaction(SIGSYS, &action, NULL);
	/* The first block of each size may need memory from the kernel. */
	free(malloc(33001));
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, &selector)) {
		say("no syscall user dispatch");
		return 0;
	}
	for (int i = 0; i < ROUNDS; i++) {
		selector = 1;
		blocks[i] = malloc(200);
		selector = 0;
	}
	for (int i = 0; i < ROUNDS; i++)
		free(blocks[i]);
	say("%d system calls of allocators", caught);
	return caught != 0;
}
