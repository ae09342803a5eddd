/* handled WHAT: allocates in a signal handler. The stack continues after the handler's frame with the interrupted
 * function. WHAT is interrupted:
 *
 *	spin     a loop of the program
 *	kill     the system call by which it sends itself the signal
 *	sleep    a system call that waits, in which the C library calls functions of its own
 *	memory   functions of the C library that call nothing, by a fault; the handler has a stack of its own */
#include "target.h"

#include <setjmp.h>
#include <sys/time.h>

#define HITS 20

static volatile int hits;
static sigjmp_buf after;

static NOINLINE void tick(int sig)
{
	char *p = malloc(36301);

	KEEP(p);
	free(p);
	hits++;
	if (sig == SIGSEGV)
		siglongjmp(after, 1);
}

static void often(suseconds_t interval)
{
	const struct itimerval timer = {{0, interval}, {0, interval}};

	setitimer(ITIMER_REAL, &timer, NULL);
}

static NOINLINE void spin(void)
{
	often(2000);
	while (hits < HITS)
		__asm__ volatile("" ::: "memory");
	often(0);
}

static NOINLINE void by_kill(void)
{
	while (hits < HITS)
		kill(getpid(), SIGALRM);
}

static NOINLINE void by_sleep(void)
{
	const struct timespec second = {1, 0};

	often(2000);
	while (hits < HITS)
		nanosleep(&second, NULL);
	often(0);
}

static NOINLINE void by_memory(void)
{
	char *volatile nothing = (char *)16;

	while (hits < HITS)
		if (!sigsetjmp(after, 1)) {
			if (hits & 1)
				memset(nothing, 1, 100);
			else
				hits += (int)strlen(nothing);
		}
}

static NOINLINE void busy(void (*what)(void))
{
	what();
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	static char room[65536];
	const stack_t stack = {.ss_sp = room, .ss_size = sizeof(room)};
	const struct sigaction on_fault = {.sa_handler = tick, .sa_flags = SA_ONSTACK};
	const struct {
		const char *name;
		void (*function)(void);
	} ways[] = {{"spin", spin}, {"kill", by_kill}, {"sleep", by_sleep}, {"memory", by_memory}};

	CHECK(sigaltstack(&stack, NULL) == 0 && sigaction(SIGSEGV, &on_fault, NULL) == 0);
	signal(SIGALRM, tick);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (argc > 1 && !strcmp(argv[1], ways[i].name))
			busy(ways[i].function);
	return hits < HITS;
}
