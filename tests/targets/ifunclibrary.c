/* The library of ifuncs.c: je_malloc and je_free are IFUNCs. */
#include "target.h"

unsigned library_work(unsigned rounds);
void *je_malloc(size_t size);
void je_free(void *p);

static char block[16];
static int in_use;

static NOINLINE void *quick(size_t size)
{
	if (!size || in_use)
		return NULL;
	in_use = 1;
	return block;
}

static NOINLINE void *slow(size_t size)
{
	return size ? NULL : block;
}

static NOINLINE void release(void *p)
{
	if (p == block)
		in_use = 0;
}

typedef void *(*allocating)(size_t);
typedef void (*releasing)(void *);

__attribute__((used)) static allocating choose_malloc(void)
{
	static volatile int chosen = 1;

	return chosen ? quick : slow;
}

__attribute__((used)) static releasing choose_free(void)
{
	return release;
}

void *je_malloc(size_t size) __attribute__((ifunc("choose_malloc")));
void je_free(void *p) __attribute__((ifunc("choose_free")));

unsigned library_work(unsigned rounds)
{
	unsigned good = 0;

	je_free(NULL); /* with lazy binding library_work(0) binds only this one */
	for (unsigned i = 0; i < rounds; i++) {
		void *p = je_malloc(36111);

		good += p == block;
		je_free(p);
	}
	return good;
}
