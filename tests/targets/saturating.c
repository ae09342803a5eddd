/* saturating THREADS SECONDS: threads that call malloc and free as fast as possible for that time, between the first
 * gate and the second one, and count their calls. Between the gates nothing else allocates. */
#include "target.h"
#include <stdatomic.h>
#include <stdbool.h>

#define THREADS_MOST 64

static atomic_bool begins, stop;
static atomic_uint busy;
static atomic_ulong pairs;

static void *work(void *data)
{
	unsigned long count = 0;

	while (!atomic_load(&begins))
		sleep_ms(1);
	for (; !atomic_load_explicit(&stop, memory_order_relaxed); count++) {
		void *p = malloc(31001);

		KEEP(p);
		free(p);
	}
	atomic_fetch_add(&pairs, count);
	atomic_fetch_sub(&busy, 1);
	while (atomic_load(&begins))
		sleep_ms(1);
	return data;
}

int main(int argc, char **argv)
{
	const unsigned threads = argument(argc, argv, 1, 4), seconds = argument(argc, argv, 2, 1);
	pthread_t tid[THREADS_MOST];

	CHECK(threads >= 1 && threads <= THREADS_MOST);
	atomic_store(&busy, threads);
	for (unsigned i = 0; i < threads; i++)
		CHECK(pthread_create(&tid[i], NULL, work, NULL) == 0);
	gate();
	atomic_store(&begins, true);
	sleep_ms(seconds * 1000);
	atomic_store(&stop, true);
	while (atomic_load(&busy))
		sleep_ms(1);
	gate();
	atomic_store(&begins, false);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(tid[i], NULL);
	say("pairs %lu", (unsigned long)atomic_load(&pairs));
	return 0;
}
