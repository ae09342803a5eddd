/* regress_undone: a signal's handler changes variables of the interrupted function, which is about to call the
 * allocator. functrace, which may undo a hit at the signal, must not take these variables for arguments when the hit
 * occurs again. If arguments are on the stack, the variables follow them, on i386 with packed stacks without a gap. */
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
