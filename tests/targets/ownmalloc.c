/* The program has an allocator of its own under the standard names, to which all calls are bound, also strdup's within
 * the C library. */
#include "target.h"

static char arena[8 << 20] __attribute__((aligned(16)));
static size_t used;
static unsigned in_use;

/* Each block has its size before it. No address is returned twice. */
NOINLINE void *malloc(size_t size)
{
	const size_t room = (size + 31) & ~(size_t)15;
	const size_t at = __atomic_fetch_add(&used, room, __ATOMIC_RELAXED);

	if (size > sizeof(arena) || at + room > sizeof(arena)) {
		errno = ENOMEM;
		return NULL;
	}
	*(size_t *)(arena + at) = size;
	__atomic_add_fetch(&in_use, 1, __ATOMIC_RELAXED);
	return arena + at + 16;
}

NOINLINE void free(void *p)
{
	if (p)
		__atomic_sub_fetch(&in_use, 1, __ATOMIC_RELAXED);
}

NOINLINE void *calloc(size_t count, size_t size)
{
	return malloc(count * size); /* unused static memory is zero; compiled to a jump or a call */
}

NOINLINE void *realloc(void *old, size_t size)
{
	void *p = malloc(size);

	if (p && old) {
		memcpy(p, old, size < ((size_t *)old)[-2] ? size : ((size_t *)old)[-2]);
		free(old);
	}
	return p;
}

int main(void)
{
	const unsigned rounds = 10;
	static char text[39001];

	memset(text, 'x', sizeof(text) - 1);
	gate();
	for (unsigned i = 0; i < rounds; i++) {
		void *p = malloc(38901), *q = calloc(2, 19451);

		KEEP(p);
		KEEP(q);
		q = realloc(q, 38903);
		KEEP(q);
		free(p);
		free(q);
		p = strdup(text);
		free(p);
	}
	expect_alloc(rounds, 38901, "malloc");
	expect_release(rounds, 38901, "free");
	expect_alloc(rounds, 38902, "calloc");
	expect_release(rounds, 38902, "realloc");
	expect_alloc(rounds, 38903, "realloc");
	expect_release(rounds, 38903, "free");
	expect_alloc(rounds, 39001, "malloc");
	expect_release(rounds, 39001, "free");
	gate();
	return 0;
}
