/* Blocks from calloc(), posix_memalign() and realloc(), of many sizes and alignments. Prints "ready", then the address
 * and usable size of each block, and "end"; ends with the standard input. */
#include "target.h"
#include <malloc.h>

#define COUNT 96

void *blocks[COUNT];

int main(void)
{
	size_t size = 1;

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	for (unsigned i = 0; i < COUNT; i++) {
		const size_t align = (size_t)32 << i / 4 % 12;

		size = size * 5 / 4 + 3;
		if (size > 3000000)
			size = 7;
		if (i % 4 == 0)
			blocks[i] = calloc(1, size);
		else if (i % 4 == 1)
			CHECK(posix_memalign(&blocks[i], align, size) == 0);
		else if (i % 4 == 2)
			blocks[i] = realloc(memset(malloc(size), 1, size), size * 3);
		else
			blocks[i] = realloc(memset(malloc(size * 2), 1, size * 2), size);
		CHECK(blocks[i]);
		free(malloc(size));
	}
	for (unsigned i = 3; i < COUNT; i += 7) {
		free(blocks[i]);
		blocks[i] = NULL;
	}
	say("ready");
	for (unsigned i = 0; i < COUNT; i++)
		if (blocks[i])
			say("%p %zu", blocks[i], malloc_usable_size(blocks[i]));
	say("end");
	wait_for_input_end();
	return 0;
}
