/* churn THREADS [US]: a busy process. THREADS threads start other threads all the time. Each of those makes 20 pairs of
 * malloc and free, and ends; then its starter sleeps for US microseconds. The program runs until it is killed. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "hot.h"

static useconds_t rest;

static void *brief(void *data)
{
	hot(20);
	return data;
}

static void *spawner(void *data)
{
	for (;;) {
		pthread_t tid;

		if (!pthread_create(&tid, NULL, brief, NULL))
			pthread_join(tid, NULL);
		if (rest)
			usleep(rest);
	}
	return data;
}

int main(int argc, char **argv)
{
	rest = argc > 2 ? (useconds_t)atoi(argv[2]) : 0;
	for (int count = argc > 1 ? atoi(argv[1]) : 1; count > 0; count--) {
		pthread_t tid;

		if (pthread_create(&tid, NULL, spawner, NULL))
			return 1;
	}
	for (;;)
		pause();
}
