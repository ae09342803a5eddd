/* race THREADS ROUNDS: threads exchange addresses as fast as the allocator can: a block that one thread releases is at
 * once allocated by another one, also by realloc. In the trace no address may be allocated twice without a release
 * between. */
#include "target.h"

static unsigned rounds;
static pthread_barrier_t barrier;

static void *work(void *data)
{
	const unsigned me = (unsigned)(uintptr_t)data;

	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < rounds; i++) {
		/* above the size limit of the threads' caches, so that every thread can get a released block at once */
		char *p = malloc(37001);

		p[0] = (char)me;
		if (i % 3 == 0)
			p = realloc(p, 37002);
		else if (i % 3 == 1)
			p = realloc(p, 39001);
		free(p);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const unsigned threads = argument(argc, argv, 1, 4);
	pthread_t tid[32];

	rounds = argument(argc, argv, 2, 300) / 3 * 3;
	CHECK(threads <= 32);
	gate();
	pthread_barrier_init(&barrier, NULL, threads);
	for (unsigned i = 0; i < threads; i++)
		CHECK(pthread_create(&tid[i], NULL, work, (void *)(uintptr_t)i) == 0);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(tid[i], NULL);
	const unsigned long all = (unsigned long)threads * rounds;

	expect_alloc(all, 37001, "malloc");
	expect_release(all / 3 * 2, 37001, "realloc");
	expect_release(all / 3, 37001, "free");
	expect_alloc(all / 3, 37002, "realloc");
	expect_release(all / 3, 37002, "free");
	expect_alloc(all / 3, 39001, "realloc");
	expect_release(all / 3, 39001, "free");
	gate();
	return 0;
}
