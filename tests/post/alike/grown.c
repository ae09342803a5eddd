/* Loses a block that has grown and moved (it is one block, with its last size), an aligned block, and blocks whose only
 * pointer is overwritten. */
#include "scrub.h"

#include <stdlib.h>

static char *volatile kept;

static __attribute__((noinline)) void grow(void)
{
	char *volatile text = malloc(10);

	for (size_t size = 20; size <= 20480; size *= 2)
		text = realloc(text, size);
	text = NULL;
	(void)text;
}

static __attribute__((noinline)) void align(void)
{
	void *block;

	if (posix_memalign(&block, 256, 777))
		abort();
	block = aligned_alloc(64, 640);
	free(block);
	block = NULL;
	*(void *volatile *)&block = NULL;
}

static __attribute__((noinline)) void replace(size_t size)
{
	kept = malloc(size);
}

static __attribute__((noinline)) void known_cache(void)
{
	for (size_t i = 0; i < 3; i++)
		replace(50);
}

int main(void)
{
	grow();
	align();
	replace(60);
	replace(61);
	known_cache();
	free(kept);
	kept = NULL;
	scrub();
	return 0;
}
