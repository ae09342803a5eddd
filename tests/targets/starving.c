/* starving N: N threads that allocate all the time. Each must make progress, also the oldest (main): the program ends
 * when each has made its pairs, however many the others make meanwhile. A tracer that acts on the newest stop first
 * would keep some of them stopped for ever. */
#include "target.h"

#define MOST  64
#define PAIRS 60

static unsigned threads;
static unsigned done;
static pthread_barrier_t barrier;

static void pairs(unsigned count, size_t size)
{
	while (count--) {
		void *p = malloc(size);

		KEEP(p);
		free(p);
	}
}

static void come_forward(size_t size)
{
	pairs(PAIRS, size);
	__atomic_add_fetch(&done, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < threads + 1)
		pairs(1, 36);
}

static void *work(void *unused)
{
	pthread_barrier_wait(&barrier);
	come_forward(32101);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t tid[MOST];

	threads = argument(argc, argv, 1, 16);
	CHECK(threads >= 1 && threads <= MOST);
	gate();
	pthread_barrier_init(&barrier, NULL, threads + 1);
	for (unsigned i = 0; i < threads; i++)
		CHECK(pthread_create(&tid[i], NULL, work, NULL) == 0);
	pthread_barrier_wait(&barrier);
	come_forward(32102);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(tid[i], NULL);
	expect_alloc((unsigned long)PAIRS * threads, 32101, "malloc");
	expect_release((unsigned long)PAIRS * threads, 32101, "free");
	expect_alloc(PAIRS, 32102, "malloc");
	expect_release(PAIRS, 32102, "free");
	gate();
	return 0;
}
