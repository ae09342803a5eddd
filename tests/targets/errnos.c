/* Failing calls in several threads at once, each with another error: each thread has its own errno. */
#include "target.h"

#define CALLS 50

static const struct {
	const char *path;
	int flags;
} fails[] = {
	{"/nonexistent", O_RDONLY},
	{"/", O_WRONLY},
	{"/dev/null/x", O_RDONLY},
	{"/dev/null", O_CREAT | O_EXCL},
};

static void *work(void *which)
{
	const size_t i = (size_t)(uintptr_t)which;

	for (int n = 0; n < CALLS; n++)
		if (open(fails[i].path, fails[i].flags, 0) != -1)
			abort();
	return NULL;
}

int main(void)
{
	pthread_t threads[4];

	for (uintptr_t i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			return 1;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
