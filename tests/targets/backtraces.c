/* backtraces ROUNDS: a timer's handler calls backtrace(), while the program allocates
 * at the depth of 64 calls. Untraced, each stack that the handler sees leads to main(). */
#include "target.h"
#include <execinfo.h>
#include <sys/time.h>

#define FRAMES 128

static volatile sig_atomic_t handled, unlike;
static void *main_return;
static volatile int sink;

static void handler(int sig)
{
	void *frames[FRAMES];
	const int count = backtrace(frames, FRAMES);
	int i = 0;

	(void)sig;
	while (i < count && frames[i] != main_return)
		i++;
	unlike += i == count;
	handled++;
}

static NOINLINE void descend(unsigned depth)
{
	void *p = malloc(33000 + depth);

	KEEP(p);
	if (depth)
		descend(depth - 1);
	free(p);
	sink++;
}

int main(int argc, char **argv)
{
	const unsigned rounds = argument(argc, argv, 1, 200);
	const struct itimerval timer = {{0, 1000}, {0, 1000}}, none = {{0, 0}, {0, 0}};
	void *frames[FRAMES];

	/* the first call loads libgcc_s, which allocates */
	CHECK(backtrace(frames, FRAMES) >= 2);
	main_return = frames[1];
	signal(SIGALRM, handler);
	gate();
	setitimer(ITIMER_REAL, &timer, NULL);
	for (unsigned i = 0; i < rounds || (handled < 100 && i < 100 * rounds); i++)
		descend(63);
	setitimer(ITIMER_REAL, &none, NULL);
	gate();
	say("%s", handled ? "handled" : "no signal");
	say("%s", unlike ? "stacks end early" : "all stacks lead to main");
	fprintf(stderr, "functrace: %d of %d stacks end early\n", (int)unlike, (int)handled);
	return 0;
}
