/* A pair is malloc and free. It has three stops: malloc's entry and return, and free's entry. */
#include "hot.h"

#include <stdlib.h>

void hot(unsigned long count)
{
	while (count--) {
		void *block = malloc(36);

		KEEP(block);
		free(block);
	}
}
