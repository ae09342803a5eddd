/* Traced calls while functrace reads a file that answers late: slowreads SECONDS [LIBRARY | -]. Prints the number of
 * its calls, and the longest pause between two of them. With "-" it calls all the time. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
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
	double last = begin, longest = 0;
	const bool is_busy = argc > 2 && !strcmp(argv[2], "-");
	unsigned calls = 0;

	while (last - begin < length) {
		void (*function)(void);

		free(outer((int)(calls++ % 9)));
		if (argc > 2 && !is_busy && calls == 100) {
			void *const library = dlopen(argv[2], RTLD_NOW);

			*(void **)&function = library ? dlsym(library, "library_function") : NULL;
			if (!function)
				return 1;
			function();
		}
		if (!is_busy)
			nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
		const double time = now();

		longest = time - last > longest ? time - last : longest;
		last = time;
	}
	printf("%u calls, %.0f ms\n", calls, longest * 1000);
	return 0;
}
