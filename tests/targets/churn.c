/* churn THREADS [MANY]: threads that allocate a little and end, always THREADS of them at once, while the tracer
 * attaches and detaches; with MANY more threads that are idle. It goes on until the gate opens. */
#include "target.h"
#include <stdatomic.h>

static atomic_bool stop;
static atomic_uint ended;

static void *brief(void *data)
{
	for (unsigned i = 0; i < 20; i++) {
		char *p = malloc(2000 + i);

		p[0] = 'x';
		free(p);
	}
	return data;
}

static void *spawner(void *data)
{
	while (!atomic_load(&stop)) {
		pthread_t tid;

		if (pthread_create(&tid, NULL, brief, NULL) == 0) {
			pthread_join(tid, NULL);
			atomic_fetch_add(&ended, 1);
		}
	}
	return data;
}

static void *idle(void *data)
{
	while (!atomic_load(&stop))
		sleep_ms(50);
	return data;
}

int main(int argc, char **argv)
{
	const unsigned threads = argument(argc, argv, 1, 4), many = argument(argc, argv, 2, 0);
	static pthread_t tid[2048];
	pthread_attr_t attr;

	CHECK(threads + many <= 2048);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	for (unsigned i = 0; i < threads + many; i++)
		CHECK(pthread_create(&tid[i], &attr, i < threads ? spawner : idle, NULL) == 0);
	gate();
	while (!atomic_load(&ended))
		sleep_ms(1);
	atomic_store(&stop, 1);
	for (unsigned i = 0; i < threads + many; i++)
		pthread_join(tid[i], NULL);

	say("all threads ended");
	return 0;
}
