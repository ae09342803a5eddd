/* Threads that map and unmap parts of the same places again and again: no two mappings of the trace may overlap. The
 * arguments: threads, and rounds of each. */
#include "kind.h"
#include <sys/mman.h>

#define PAGE ((size_t)4096)

static void *storm(void *data)
{
	for (unsigned i = 0; i < (uintptr_t)data; i++) {
		char *const p = mmap(NULL, 8 * PAGE, PROT_READ,
				     MAP_PRIVATE | MAP_ANONYMOUS | (i % 2 ? MAP_NORESERVE : 0), -1, 0);

		CHECK(p != MAP_FAILED);
		CHECK(munmap(p + 2 * PAGE, 3 * PAGE) == 0);
		char *const q = mremap(p, 2 * PAGE, (2 + i % 3) * PAGE, MREMAP_MAYMOVE);

		CHECK(q != MAP_FAILED);
		CHECK(munmap(p + 5 * PAGE, 3 * PAGE) == 0);
		CHECK(munmap(q, (2 + i % 3) * PAGE) == 0);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const unsigned count = argument(argc, argv, 1, 4);
	const uintptr_t rounds = argument(argc, argv, 2, 100);
	pthread_t threads[64];

	CHECK(count <= 64);
	gate();
	for (unsigned i = 0; i < count; i++)
		CHECK(pthread_create(&threads[i], NULL, storm, (void *)rounds) == 0);
	for (unsigned i = 0; i < count; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	gate();
	return 0;
}
