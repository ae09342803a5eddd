/* Traced calls while functrace reads a file that answers late: slowreads SECONDS [LIBRARY | -]. If SECONDS is 0, the
 * program goes on until there is a file named "enough" in the current folder. It sleeps 3 ms after each call, with "-"
 * not at all. After 100 calls it loads LIBRARY, if one is given, and calls its library_function(). Prints the number of
 * its calls, and the longest pause between two of them; time in which it waited for a CPU does not count. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Returns the seconds for which this thread was ready to run and had no CPU; 0 if the kernel does not tell. */
static double without_cpu(int schedule)
{
	char text[96];
	unsigned long long waited;
	const ssize_t got = pread(schedule, text, sizeof(text) - 1, 0);

	text[got > 0 ? got : 0] = '\0';
	return sscanf(text, "%*u %llu", &waited) == 1 ? (double)waited / 1e9 : 0;
}

__attribute__((noinline)) static void *inner(int size)
{
	void *const block = malloc((size_t)size);

	return block;
}

__attribute__((noinline)) static void *outer(int depth)
{
	void *const block = depth ? outer(depth - 1) : inner(31000);

	return block;
}

int main(int argc, char **argv)
{
	const double begin = now(), length = atof(argv[1]);
	const bool is_busy = argc > 2 && !strcmp(argv[2], "-"), has_library = argc > 2 && !is_busy;
	const int schedule = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
	double last = begin, longest = 0, ready = without_cpu(schedule);
	unsigned calls = 0;

	while ((length > 0 ? last - begin < length : access("enough", F_OK) != 0) || (has_library && calls < 100)) {
		void (*function)(void);

		free(outer((int)(calls++ % 9)));
		if (has_library && calls == 100) {
			void *const library = dlopen(argv[2], RTLD_NOW);

			*(void **)&function = library ? dlsym(library, "library_function") : NULL;
			if (!function)
				return 1;
			function();
		}
		if (!is_busy)
			nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
		/* The time without a CPU is read before and after the clock, so that each wait for a CPU between two
		 * calls is subtracted. */
		const double waited = without_cpu(schedule), time = now();
		const double pause = time - last - (without_cpu(schedule) - ready);

		longest = pause > longest ? pause : longest;
		last = time;
		ready = waited;
	}
	printf("%u calls, %.0f ms\n", calls, longest * 1000);
	return 0;
}
