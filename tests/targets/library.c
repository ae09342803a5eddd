/* The library that loading.c loads: it allocates, and defines an allocator whose names have a prefix that functrace
 * traces. */
#include "target.h"

int library_work(unsigned round);
void *je_malloc(size_t size);
void je_free(void *p);

static char arena[64];
static int used;

NOINLINE void *je_malloc(size_t size)
{
	(void)size;
	if (used)
		return NULL;
	used = 1;
	return arena;
}

NOINLINE void je_free(void *p)
{
	if (p == arena)
		used = 0;
}

int library_work(unsigned round)
{
	void *p = malloc(35001), *q = je_malloc(35002);

	CHECK(p && q);
	memset(p, (int)round, 35001);
	je_free(q);
	free(p);
	return 1;
}
