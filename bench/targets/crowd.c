/* A process with many threads and many objects, which measures how long it is stopped while a tracer attaches and
 * detaches.
 *
 *     crowd THREADS OBJECT...     each OBJECT is opened by dlopen
 *
 * One thread reads the clock all the time and stores the largest gap between two readings, because a stop causes a gap.
 * Another thread allocates and releases a block every millisecond. The others sleep. For each line of standard input
 * the program prints "gap NS NS": the largest gap since the previous line, and the largest one without the time for
 * which the thread waited for a processor. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hot.h"

#define LOOK_NS 20000 /* smaller gaps are ignored */

static _Atomic uint64_t largest, largest_stop;
static atomic_bool reset;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Returns the time, in ns, for which this thread has waited for a processor. fd: its file schedstat in /proc. */
static uint64_t waited(int fd)
{
	char text[96];
	unsigned long long ran, delay;
	const ssize_t got = pread(fd, text, sizeof(text) - 1, 0);

	if (got <= 0)
		return 0;
	text[got] = '\0';
	return sscanf(text, "%llu %llu", &ran, &delay) == 2 ? delay : 0;
}

static void *watch(void *unused)
{
	const int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	uint64_t last = now(), delay = waited(fd);

	for (;;) {
		const uint64_t time = now(), gap = time - last;

		last = time;
		if (atomic_load_explicit(&reset, memory_order_relaxed)) {
			atomic_store(&largest, 0);
			atomic_store(&largest_stop, 0);
			atomic_store(&reset, false);
		} else if (gap > LOOK_NS) {
			const uint64_t before = delay;

			delay = waited(fd);
			const uint64_t stop = gap > delay - before ? gap - (delay - before) : 0;

			if (gap > largest)
				atomic_store(&largest, gap);
			if (stop > largest_stop)
				atomic_store(&largest_stop, stop);
			last = now(); /* reading schedstat takes time, which is not part of the next gap */
		}
	}
	return unused;
}

static void *allocate(void *unused)
{
	const struct timespec millisecond = {.tv_nsec = 1000000};

	for (;;) {
		hot(1);
		nanosleep(&millisecond, NULL);
	}
	return unused;
}

static void *doze(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void start(void *(*function)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, NULL)) {
		puts("no thread could be started");
		_exit(1);
	}
}

int main(int argc, char **argv)
{
	const int threads = argc > 1 ? atoi(argv[1]) : 0;
	char byte, line[64];

	for (int i = 2; i < argc; i++)
		if (!dlopen(argv[i], RTLD_NOW)) {
			printf("%s\n", dlerror());
			return 1;
		}
	start(watch);
	start(allocate);
	for (int i = 3; i < threads; i++)
		start(doze);
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 1;
	while (read(STDIN_FILENO, &byte, 1) == 1) {
		if (byte != '\n')
			continue;
		snprintf(line, sizeof(line), "gap %llu %llu\n", (unsigned long long)atomic_load(&largest),
			 (unsigned long long)atomic_load(&largest_stop));
		if (write(STDOUT_FILENO, line, strlen(line)) < 0)
			return 1;
		atomic_store(&reset, true);
		while (atomic_load(&reset))
			;
	}
	return 0;
}
