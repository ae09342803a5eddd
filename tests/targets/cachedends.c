/* Threads that end with full caches: cachedends THREADS.
 *
 * Before the gate each thread allocates 60 small blocks of many sizes and releases them, so that they stay in its
 * cache, and keeps 3 larger blocks. After the gate it releases the kept blocks and ends; the C library then releases,
 * by its own free(), the blocks in the cache and the cache itself. THREADS more begin after the gate and do the same.
 *
 * Prints each kept block before the gate:
 *	old ADDRESS */
#include "target.h"

#define THREADS_MAX 16
#define BLOCKS      60
#define KEPT        3

static pthread_barrier_t ready, go;

static void *work(void *is_early)
{
	char *blocks[BLOCKS], *kept[KEPT];

	for (unsigned i = 0; i < BLOCKS; i++) {
		blocks[i] = malloc(24 + i * 16);
		KEEP(blocks[i]);
	}
	for (unsigned i = 0; i < KEPT; i++)
		kept[i] = malloc(30000 + i);
	for (unsigned i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	if (is_early) {
		for (unsigned i = 0; i < KEPT; i++)
			say("old %p", (void *)kept[i]);
		pthread_barrier_wait(&ready);
		pthread_barrier_wait(&go);
	}
	for (unsigned i = 0; i < KEPT; i++)
		free(kept[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	const unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
	pthread_t ids[THREADS_MAX];

	CHECK(threads <= THREADS_MAX);
	pthread_barrier_init(&ready, NULL, threads + 1);
	pthread_barrier_init(&go, NULL, threads + 1);
	for (unsigned i = 0; i < threads; i++)
		CHECK(pthread_create(&ids[i], NULL, work, "") == 0);
	pthread_barrier_wait(&ready);
	gate();
	pthread_barrier_wait(&go);
	for (unsigned i = 0; i < threads; i++)
		CHECK(pthread_join(ids[i], NULL) == 0);
	for (unsigned i = 0; i < threads; i++)
		CHECK(pthread_create(&ids[i], NULL, work, NULL) == 0);
	for (unsigned i = 0; i < threads; i++)
		CHECK(pthread_join(ids[i], NULL) == 0);
	gate();
	return 0;
}
