/* Threads that lose blocks, or release those of others. */
#include "scrub.h"

#include <pthread.h>
#include <stdlib.h>

static __attribute__((noinline)) void *fetch(size_t size)
{
	return calloc(1, size);
}

static void *lose(void *size)
{
	for (int i = 0; i < 10; i++) {
		char *volatile block = fetch(*(size_t *)size);

		if (i % 2)
			free(block);
		block = NULL;
	}
	return NULL;
}

static __attribute__((noinline)) void *known_cache(void *unused)
{
	char *volatile block = fetch(5);

	block = NULL;
	(void)block;
	return unused;
}

static void *release(void *block)
{
	free(block);
	return NULL;
}

static void run(void *(*function)(void *), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, argument))
		abort();
	pthread_join(thread, NULL);
}

int main(void)
{
	size_t sizes[] = {33, 44};

	run(lose, &sizes[0]);
	run(lose, &sizes[1]);
	run(release, malloc(100));
	run(known_cache, NULL);
	scrub();
	return 0;
}
