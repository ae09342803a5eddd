/* Blocks of one function that are lost, except one that is released; and a string. */
#include "scrub.h"

#include <stdlib.h>
#include <string.h>

static __attribute__((noinline)) void *grab(size_t size)
{
	return malloc(size);
}

static __attribute__((noinline)) void work(void)
{
	for (int i = 0; i < 4; i++) {
		void *volatile block = grab(100 + (size_t)i);

		if (i == 2)
			free(block);
		block = NULL;
	}
}

static __attribute__((noinline)) void name(void)
{
	char *volatile text = strdup("nineteen characters");

	text = NULL;
	(void)text;
}

int main(void)
{
	work();
	name();
	free(malloc(5000));
	scrub();
	return 0;
}
