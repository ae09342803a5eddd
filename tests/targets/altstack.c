/* Handlers that allocate: on the alternate stack, within another handler, and after a real fault, which the handler
 * leaves by siglongjmp. The other signals are raised between calls of the allocator, so what their handlers do is
 * allowed. */
#include "target.h"
#include <setjmp.h>

static sigjmp_buf out;
static volatile int faults, nested;

static NOINLINE void allocate_in_handler(void)
{
	free(malloc(36401));
}

static void on_usr1(int signal)
{
	(void)signal;
	allocate_in_handler();
	if (nested++ % 2 == 0)
		raise(SIGUSR2); /* a handler within a handler */
}

static void on_usr2(int signal)
{
	(void)signal;
	free(malloc(36402));
}

static void on_segv(int signal)
{
	(void)signal;
	void *p = malloc(36403);

	faults++;
	free(p);
	siglongjmp(out, 1);
}

static NOINLINE void fault(void)
{
	volatile int *volatile nowhere = (volatile int *)8;

	*nowhere = 1;
}

int main(void)
{
	static char area[64 << 10];
	const stack_t stack = {.ss_sp = area, .ss_size = sizeof(area)};
	struct sigaction action = {.sa_handler = on_usr1, .sa_flags = SA_ONSTACK};
	const unsigned rounds = 30;

	CHECK(sigaltstack(&stack, NULL) == 0);
	sigaction(SIGUSR1, &action, NULL);
	action.sa_handler = on_segv;
	action.sa_flags |= SA_NODEFER;
	sigaction(SIGSEGV, &action, NULL);
	action.sa_handler = on_usr2;
	action.sa_flags = 0;
	sigaction(SIGUSR2, &action, NULL);
	gate();
	for (unsigned i = 0; i < rounds; i++) {
		void *p = malloc(36404);

		raise(SIGUSR1);
		if (!sigsetjmp(out, 1))
			fault();
		free(p);
	}
	CHECK(faults == (int)rounds);
	expect_alloc(rounds, 36401, "malloc");
	expect_release(rounds, 36401, "free");
	expect_alloc(rounds / 2, 36402, "malloc");
	expect_release(rounds / 2, 36402, "free");
	expect_alloc(rounds, 36403, "malloc");
	expect_release(rounds, 36403, "free");
	expect_alloc(rounds, 36404, "malloc");
	expect_release(rounds, 36404, "free");
	/* the stack begins so; the signal's frame and the interrupted function follow, and are not compared */
	say("expect stack 36401 allocate_in_handler on_usr1");
	gate();
	return 0;
}
