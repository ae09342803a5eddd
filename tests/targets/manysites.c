/* manysites N: N threads that allocate from 2048 places in the text, the first one also from 2048 others. The text has
 * too few out-of-line slots, by some thousands, for copies of the instructions at these places. */
#include "target.h"

#define MOST   16
#define SITES  4096
#define ROUNDS 2

static void *blocks[MOST][SITES];
static unsigned threads;
static pthread_barrier_t barrier;

#define X4(...)    __VA_ARGS__ __VA_ARGS__ __VA_ARGS__ __VA_ARGS__
#define X16(...)   X4(X4(__VA_ARGS__))
#define X256(...)  X16(X16(__VA_ARGS__))
#define X1024(...) X4(X256(__VA_ARGS__))

/* The instructions at the return sites: a move, a test, a store to a pc-relative address. */
#define MOVE *next++ = malloc(32301);
#define TEST                                                                                                           \
	if (!(*next++ = malloc(32302)))                                                                                \
		return;
#define RELATIVE                                                                                                       \
	last = malloc(32303);                                                                                          \
	*next++ = last;

NOINLINE static void allocate(void **next)
{
	X1024(MOVE)
	X1024(TEST)
}

static void *volatile last;

/* Called by one thread only, because all threads share `last`. */
NOINLINE static void allocate_alone(void **next)
{
	X1024(RELATIVE)
	X1024(RELATIVE)
}

static void release(void **all, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		free(all[i]);
}

static void *work(void *all)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&barrier);
		allocate(all);
		release(all, SITES / 2);
	}
	return all;
}

int main(int argc, char **argv)
{
	pthread_t tid[MOST];

	threads = argument(argc, argv, 1, 4);
	CHECK(threads >= 1 && threads <= MOST);
	gate();
	pthread_barrier_init(&barrier, NULL, threads);
	for (unsigned i = 1; i < threads; i++)
		CHECK(pthread_create(&tid[i], NULL, work, blocks[i]) == 0);
	work(blocks[0]);
	allocate_alone(blocks[0]);
	release(blocks[0], SITES / 2);
	for (unsigned i = 1; i < threads; i++)
		pthread_join(tid[i], NULL);
	for (size_t size = 32301; size <= 32302; size++) {
		expect_alloc(threads * ROUNDS * 1024ul, size, "malloc");
		expect_release(threads * ROUNDS * 1024ul, size, "free");
	}
	expect_alloc(2048, 32303, "malloc");
	expect_release(2048, 32303, "free");
	gate();
	return 0;
}
