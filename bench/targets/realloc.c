/* A pair is one realloc of a block that grows and shrinks in place. It has two stops: realloc's entry and return. */
#include "hot.h"

#include <stdlib.h>

void hot(unsigned long count)
{
	void *block = malloc(100);

	while (count--) {
		void *next = realloc(block, 100 + count % 2 * 64);

		KEEP(next);
		if (next)
			block = next;
	}
	free(block);
}
