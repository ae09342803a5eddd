/* Allocates in a signal handler that interrupts a loop of its own: the stack goes on beyond the handler's frame. */
#include "target.h"

#include <sys/time.h>

#define HITS 20

static volatile int hits;

static NOINLINE void tick(int sig)
{
	char *p = malloc(36301);

	(void)sig;
	KEEP(p);
	free(p);
	hits++;
}

static NOINLINE void spin(void)
{
	while (hits < HITS)
		__asm__ volatile("" ::: "memory");
}

static NOINLINE void busy(void)
{
	spin();
	__asm__ volatile("");
}

int main(void)
{
	struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};

	signal(SIGALRM, tick);
	setitimer(ITIMER_REAL, &often, NULL);
	busy();
	setitimer(ITIMER_REAL, &never, NULL);
	return 0;
}
