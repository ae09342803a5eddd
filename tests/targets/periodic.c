/* A service that has requests at fixed times: periodic MIB PERIOD PAIRS.
 *
 * Fills MIB of its heap. Every PERIOD microseconds a request is due, of PAIRS blocks that are allocated and released;
 * late requests are done without a sleep in between. After the gate it prints, in microseconds, the largest delay of
 * the answers before the gate ("quiet") and of those while it waits at the gate ("attached"). */
#include "target.h"
#include <pthread.h>
#include <stdint.h>

#define BLOCK 2000

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static _Atomic unsigned phase; /* index of `latest`: 0 before the gate, 1 at it; 2: the thread ends */
static _Atomic unsigned long latest[2];
static unsigned period, pairs;

static void answer(void)
{
	for (unsigned i = 0; i < pairs; i++) {
		void *p = malloc(100);

		KEEP(p);
		free(p);
	}
}

static void *serve(void *unused)
{
	unsigned now_in;

	(void)unused;
	for (uint64_t due = now_us(); (now_in = phase) < 2; due += period) {
		uint64_t now = now_us();

		if (now < due)
			nanosleep(&(struct timespec){.tv_nsec = (long)(due - now) * 1000}, NULL);
		answer();
		now = now_us();
		if (now - due > latest[now_in])
			latest[now_in] = (unsigned long)(now - due);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const unsigned mib = argument(argc, argv, 1, 32);
	pthread_t thread;

	period = argument(argc, argv, 2, 1000);
	pairs = argument(argc, argv, 3, 3);
	for (unsigned long done = 0; done < (unsigned long)mib << 20; done += BLOCK)
		memset(malloc(BLOCK), 1, BLOCK);
	CHECK(pthread_create(&thread, NULL, serve, NULL) == 0);
	sleep_ms(500);
	phase = 1;
	gate();
	phase = 2;
	CHECK(pthread_join(thread, NULL) == 0);
	say("quiet %lu", latest[0]);
	say("attached %lu", latest[1]);
	gate();
	return 0;
}
