/* A library that aliases.c loads: FIRST and SECOND are two names of one function, called from two places. */
#include "target.h"
#include <malloc.h>

#ifndef FIRST
#define FIRST  memalign
#define SECOND aligned_alloc
#define SIZE_1 37401
#define SIZE_2 37440
#endif

int library_work(void);

int library_work(void)
{
	void *p = FIRST(64, SIZE_1), *q = SECOND(64, SIZE_2);

	CHECK(p && q);
	free(p);
	free(q);
	return 1;
}
