/* regress_undone: a signal's handler changes variables of the interrupted function, which is about to call the
 * allocator. If arguments are on the stack, these variables follow them. Compiled for i386 with packed stacks, they
 * follow without a gap. */
#include "target.h"
#include <sys/time.h>

#define PAIRS 4000

static volatile unsigned *volatile shown;

static void on_signal(int signal)
{
	volatile unsigned *variables = shown;

	(void)signal;
	for (unsigned i = 0; variables && i < 8; i++)
		variables[i]++;
}

static __attribute__((noinline)) void allocate(void)
{
	volatile unsigned variables[8] = {0};

	shown = variables;
	for (unsigned i = 0; i < PAIRS; i++)
		free(malloc(30000));
	shown = NULL;
}

int main(void)
{
	const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};

	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &often, NULL);
	allocate();
	setitimer(ITIMER_REAL, &never, NULL);
	expect_alloc(PAIRS, 30000, "malloc");
	expect_release(PAIRS, 30000, "free");
	return 0;
}
