/* prefixed: all allocators whose prefixes functrace knows, in one program. Each returns a block of the C library's
 * malloc: the trace has only the outer call, such as je_malloc. Names that only look similar are not traced. */
#include "target.h"
#include <malloc.h>

#define ROUNDS 15

/* clang-format off */
#define DEFINE(prefix)                                                                             \
	void *prefix##malloc(size_t size);                                                         \
	void *prefix##calloc(size_t count, size_t size);                                           \
	void *prefix##realloc(void *p, size_t size);                                               \
	void *prefix##reallocarray(void *p, size_t count, size_t size);                            \
	int prefix##posix_memalign(void **p, size_t alignment, size_t size);                       \
	void *prefix##aligned_alloc(size_t alignment, size_t size);                                \
	void *prefix##memalign(size_t alignment, size_t size);                                     \
	void *prefix##valloc(size_t size);                                                         \
	void *prefix##pvalloc(size_t size);                                                        \
	void prefix##free(void *p);                                                                \
	void prefix##cfree(void *p);                                                               \
	void prefix##free_sized(void *p, size_t size);                                             \
	NOINLINE void *prefix##malloc(size_t size) { return malloc(size); }                        \
	NOINLINE void *prefix##calloc(size_t count, size_t size) { return calloc(count, size); }   \
	NOINLINE void *prefix##realloc(void *p, size_t size) { return realloc(p, size); }          \
	NOINLINE void *prefix##reallocarray(void *p, size_t count, size_t size)                    \
	{ return prefix##realloc(p, count * size); }                                               \
	NOINLINE int prefix##posix_memalign(void **p, size_t alignment, size_t size)               \
	{ return posix_memalign(p, alignment, size); }                                             \
	NOINLINE void *prefix##aligned_alloc(size_t alignment, size_t size)                        \
	{ return aligned_alloc(alignment, size); }                                                 \
	NOINLINE void *prefix##memalign(size_t alignment, size_t size)                             \
	{ return memalign(alignment, size); }                                                      \
	NOINLINE void *prefix##valloc(size_t size) { return valloc(size); }                        \
	NOINLINE void *prefix##pvalloc(size_t size) { return memalign(4096, (size + 4095) & ~4095ul); } \
	NOINLINE void prefix##free(void *p) { free(p); }                                           \
	NOINLINE void prefix##cfree(void *p) { free(p); KEEP(p); }                                 \
	NOINLINE void prefix##free_sized(void *p, size_t size) { prefix##free(p); KEEP(size); }    \
	static void work_##prefix(size_t base)                                                     \
	{                                                                                          \
		for (unsigned i = 0; i < ROUNDS; i++) {                                            \
			void *p = prefix##malloc(base + 1), *q = NULL;                             \
			prefix##free(p);                                                           \
			p = prefix##calloc(1, base + 2);                                           \
			p = prefix##realloc(p, base + 3);                                          \
			p = prefix##reallocarray(p, 2, (base + 4) / 2);                            \
			prefix##cfree(p);                                                          \
			CHECK(prefix##posix_memalign(&q, 64, base + 5) == 0);                      \
			prefix##free_sized(q, base + 5);                                           \
			prefix##free(prefix##aligned_alloc(32, base + 32));                        \
			prefix##free(prefix##memalign(64, base + 7));                              \
			prefix##free(prefix##valloc(base + 8));                                    \
		}                                                                                  \
		prefix##free(prefix##pvalloc(base + 9)); /* whole pages */                         \
		prefix##free(NULL);                                                                \
		expect_alloc(ROUNDS, base + 1, #prefix "malloc");                                  \
		expect_alloc(ROUNDS, base + 2, #prefix "calloc");                                  \
		expect_alloc(ROUNDS, base + 3, #prefix "realloc");                                 \
		expect_alloc(ROUNDS, base + 4, #prefix "reallocarray");                            \
		expect_alloc(ROUNDS, base + 5, #prefix "posix_memalign");                          \
		expect_alloc(ROUNDS, base + 32, #prefix "aligned_alloc");                          \
		expect_alloc(ROUNDS, base + 7, #prefix "memalign");                                \
		expect_alloc(ROUNDS, base + 8, #prefix "valloc");                                  \
		expect_release(ROUNDS, base + 1, #prefix "free");                                  \
		expect_release(ROUNDS, base + 2, #prefix "realloc");                               \
		expect_release(ROUNDS, base + 3, #prefix "reallocarray");                          \
		expect_release(ROUNDS, base + 4, #prefix "cfree");                                 \
		expect_release(ROUNDS, base + 5, #prefix "free_sized");                            \
		expect_release(ROUNDS, base + 32, #prefix "free");                                 \
		expect_release(ROUNDS, base + 7, #prefix "free");                                  \
		expect_release(ROUNDS, base + 8, #prefix "free");                                  \
		expect_alloc(1, (base + 9 + 4095) & ~4095ul, #prefix "pvalloc");                   \
		expect_release(1, (base + 9 + 4095) & ~4095ul, #prefix "free");                    \
	}
/* clang-format on */

DEFINE(je_)
DEFINE(mi_)
DEFINE(tc_)
DEFINE(_rjem_)

void *je_mallocx(size_t size, int flags);
NOINLINE void *je_mallocx(size_t size, int flags)
{
	(void)flags;
	return malloc(size);
}

void *my_malloc(size_t size);
NOINLINE void *my_malloc(size_t size)
{
	return malloc(size);
}

int main(void)
{
	gate();
	work_je_(30600);
	work_mi_(30700);
	work_tc_(30800);
	work__rjem_(30900);
	free(je_mallocx(30501, 0));
	free(my_malloc(30502));
	expect_alloc(1, 30501, "malloc");
	expect_release(1, 30501, "free");
	expect_alloc(1, 30502, "malloc");
	expect_release(1, 30502, "free");
	gate();
	return 0;
}
