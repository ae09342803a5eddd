/* threads N ROUNDS: each of N threads allocates and releases, keeps some blocks, and puts blocks into boxes, from which
 * it takes and releases the blocks of other threads. */
#include "target.h"

#define MOST 64

static unsigned threads, rounds;
static void *volatile mailbox[MOST];
static pthread_barrier_t barrier;

static void *work(void *data)
{
	const unsigned me = (unsigned)(uintptr_t)data;

	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < rounds; i++) {
		void *p = malloc(32001), *q = calloc(1, 32002), *old;

		CHECK(p && q);
		p = realloc(p, 32003);
		CHECK(p);
		free(p);
		/* In each round the thread uses another box, so that it also releases blocks of other threads. */
		old = __atomic_exchange_n(&mailbox[(me + i) % threads], q, __ATOMIC_ACQ_REL);
		free(old);
	}
	for (unsigned i = 0; i < 3; i++) {
		void *p = malloc(32004);

		KEEP(p);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t tid[MOST];

	threads = argument(argc, argv, 1, 4);
	rounds = argument(argc, argv, 2, 100);
	CHECK(threads >= 1 && threads <= MOST);
	gate();
	pthread_barrier_init(&barrier, NULL, threads);
	for (unsigned i = 0; i < threads; i++)
		CHECK(pthread_create(&tid[i], NULL, work, (void *)(uintptr_t)i) == 0);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(tid[i], NULL);
	for (unsigned i = 0; i < threads; i++)
		free(mailbox[i]);
	const unsigned long all = (unsigned long)threads * rounds;

	expect_alloc(all, 32001, "malloc");
	expect_release(all, 32001, "realloc");
	expect_alloc(all, 32003, "realloc");
	expect_release(all, 32003, "free");
	expect_alloc(all, 32002, "calloc");
	expect_release(all, 32002, "free");
	expect_alloc(3ul * threads, 32004, "malloc");
	expect_live(3ul * threads, 32004);
	gate();
	return 0;
}
