/* steady THREADS PAIRS [FRAMES] [aligned]: two gates around exactly THREADS * PAIRS pairs of malloc and free, after
 * enough pairs to warm up all caches; the stack is deeper by FRAMES frames. THREADS 0: by the first and only thread.
 * aligned: memalign and aligned_alloc in turn, and free. */
#include "target.h"
#include <malloc.h>

static unsigned pairs;
static int aligned;

static NOINLINE void some_pairs(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		void *p = !aligned ? malloc(38001) : i & 1 ? memalign(64, 38016) : aligned_alloc(64, 38080);

		KEEP(p);
		free(p);
	}
}

static pthread_barrier_t barrier;
static unsigned frames;

static NOINLINE void at_depth(unsigned more, unsigned count)
{
	volatile char local[96];

	local[0] = (char)more;
	if (more)
		at_depth(more - 1, count);
	else
		some_pairs(count);
	(void)local[0]; /* no tail call */
}

static void *work(void *data)
{
	at_depth(frames, 50);
	pthread_barrier_wait(&barrier); /* all are warm */
	pthread_barrier_wait(&barrier); /* the first thread has passed its gate */
	at_depth(frames, pairs);
	pthread_barrier_wait(&barrier); /* all are done; they wait until the second gate opens */
	pthread_barrier_wait(&barrier);
	return data;
}

static void expect_pairs(unsigned long count)
{
	if (aligned) {
		expect_alloc(count / 2, 38016, "memalign");
		expect_alloc(count / 2, 38080, "aligned_alloc");
		expect_release(count / 2, 38016, "free");
		expect_release(count / 2, 38080, "free");
		return;
	}
	expect_alloc(count, 38001, "malloc");
	expect_release(count, 38001, "free");
}

/* Works in the first thread without any others, so that it is busy alone. */
static void work_alone(void)
{
	gate();
	some_pairs(200);
	gate();
	some_pairs(pairs);
	gate();
	expect_pairs(pairs + 200ul);
	gate();
}

int main(int argc, char **argv)
{
	const unsigned threads = argument(argc, argv, 1, 1);
	pthread_t tid[16];

	pairs = argument(argc, argv, 2, 1000);
	frames = argument(argc, argv, 3, 0);
	aligned = argc > 4;
	CHECK(threads <= 16);
	if (!threads) {
		work_alone();
		return 0;
	}
	gate(); /* the tracer attaches */
	pthread_barrier_init(&barrier, NULL, threads + 1);
	for (unsigned i = 0; i < threads; i++)
		CHECK(pthread_create(&tid[i], NULL, work, NULL) == 0);
	pthread_barrier_wait(&barrier);
	gate(); /* counting begins */
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	gate(); /* counting ends */
	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(tid[i], NULL);
	expect_pairs(threads * (pairs + 50ul));
	gate();
	return 0;
}
