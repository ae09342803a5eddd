/* Threads that only allocate and release, until the standard input ends: busyheap THREADS [vfork]. If THREADS is 0 the
 * first thread does so. With vfork another thread creates children that do so in the same memory, one after the other.
 * The program sends no SIGTRAP: it counts those that it gets, and its status is 0 if there were none. */
#include "target.h"
#include <poll.h>
#include <stdbool.h>
#include <sys/wait.h>

#define SLOTS 64

static volatile sig_atomic_t traps;
static volatile int stops;
static bool alone;

static void on_trap(int sig)
{
	(void)sig;
	traps++;
}

static bool has_ended(unsigned long round)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	return stops || (alone && round % 65536 == 0 && poll(&input, 1, 0) > 0);
}

static void *work(void *argument)
{
	uint64_t seed = (uintptr_t)argument * UINT64_C(2654435761) + 1;
	void *slots[SLOTS] = {0};

	for (unsigned long round = 0; !has_ended(round); round++) {
		seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		const unsigned slot = (unsigned)(seed >> 33) % SLOTS, kind = (unsigned)(seed >> 40) % 64;

		free(slots[slot]);
		slots[slot] = malloc(kind == 0 ? 200000 : kind < 8 ? 3000 : 16 + kind * 8);
		CHECK(slots[slot]);
	}
	for (unsigned i = 0; i < SLOTS; i++)
		free(slots[i]);
	return NULL;
}

static void *make_children(void *argument)
{
	(void)argument;
	while (!stops) {
		const pid_t child = vfork();

		CHECK(child >= 0);
		if (child == 0) {
			for (size_t size = 20000; size < 24000; size += 100)
				free(malloc(size));
			_exit(0);
		}
		CHECK(waitpid(child, NULL, 0) == child);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	const bool has_children = argc > 2 && !strcmp(argv[2], "vfork");
	pthread_t ids[64], parent;

	CHECK(threads <= 64);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	signal(SIGTRAP, on_trap);
	for (unsigned i = 0; i < threads; i++)
		CHECK(pthread_create(&ids[i], NULL, work, (void *)(uintptr_t)i) == 0);
	if (has_children)
		CHECK(pthread_create(&parent, NULL, make_children, NULL) == 0);
	say("ready");
	alone = threads == 0;
	if (alone)
		work(NULL);
	wait_for_input_end();
	stops = 1;
	for (unsigned i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	if (has_children)
		pthread_join(parent, NULL);
	say("%d traps", (int)traps);
	return traps != 0;
}
