#include "config.h"
#include "uprobe/link_closer.h"
#include "base/util.h"
#include "base/worker.h"

#include <pthread.h>
#include <unistd.h>

#define THREADS_MAX 16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_closed = PTHREAD_COND_INITIALIZER;
static int *fds;
static size_t count, capacity;
static unsigned threads; /* number of threads that run */

static void *close_queued(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	while (count) {
		const int fd = fds[--count];

		pthread_mutex_unlock(&lock);
		close(fd);
		pthread_mutex_lock(&lock);
	}
	if (!--threads)
		pthread_cond_broadcast(&all_closed);
	pthread_mutex_unlock(&lock);
	return NULL;
}

void link_close(int fd)
{
	pthread_t thread;
	bool starts;

	pthread_mutex_lock(&lock);
	ARRAY_GROW(fds, capacity, count);
	fds[count++] = fd;
	starts = threads < THREADS_MAX;
	threads += starts;
	pthread_mutex_unlock(&lock);
	if (!starts)
		return;
	if (thread_start_masked(&thread, NULL, close_queued, NULL) == 0)
		pthread_detach(thread);
	else
		close_queued(NULL);
}

void link_close_wait(void)
{
	pthread_mutex_lock(&lock);
	while (threads)
		pthread_cond_wait(&all_closed, &lock);
	pthread_mutex_unlock(&lock);
}

bool link_close_is_done(void)
{
	pthread_mutex_lock(&lock);
	const bool is_done = !threads;

	pthread_mutex_unlock(&lock);
	return is_done;
}
