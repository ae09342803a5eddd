/* A pair: malloc and free. Three stops: malloc's entry and return, free's entry. */
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
