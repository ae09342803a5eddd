/* own_blocks: an operator new of the program's own that makes more blocks by malloc than the one that it returns,
 * which may follow a header: one that it keeps, one that it releases again, one that another thread releases
 * meanwhile. Each is an event of its own; the returned one is one event. */
#include "target.h"
#include <new>

enum { KEPT = 36711, PASSING, GIVEN, RETURNED, BEHIND, IN_ARRAY, POOLED };
#define HEADER 32

static void *kept[64];
static unsigned kept_count;
static char pool[256 * 1024] __attribute__((aligned(64)));
static size_t used;

static void *release_it(void *p)
{
	free(p);
	return nullptr;
}

NOINLINE void *operator new(size_t size)
{
	void *aside = nullptr, *p;
	pthread_t thread;

	if (size == RETURNED || size == IN_ARRAY) {
		kept[kept_count++] = malloc(KEPT);
		aside = malloc(PASSING);
		KEEP(aside);
	}
	if (size == RETURNED) {
		void *given = malloc(GIVEN);
		CHECK(pthread_create(&thread, nullptr, release_it, given) == 0);
		CHECK(pthread_join(thread, nullptr) == 0);
	}
	p = malloc(size);
	KEEP(p);
	free(aside);
	return p;
}

NOINLINE void operator delete(void *p) noexcept
{
	free(p);
}

NOINLINE void operator delete(void *p, size_t) noexcept
{
	free(p);
}

/* The block follows a header, or comes from a pool, whose own block is another one. */
NOINLINE void *operator new(size_t size, const std::nothrow_t &) noexcept
{
	char *p = static_cast<char *>(malloc(size == POOLED ? KEPT : size + HEADER));

	KEEP(p);
	if (size != POOLED)
		return p + HEADER;
	kept[kept_count++] = p;
	p = pool + used;
	used += size / 64 * 64 + 64;
	return used <= sizeof(pool) ? p : nullptr;
}

NOINLINE void operator delete(void *p, const std::nothrow_t &) noexcept
{
	char *block = static_cast<char *>(p) - HEADER;

	KEEP(block);
	if (p < pool || p >= pool + sizeof(pool))
		free(block);
}

int main()
{
	const unsigned rounds = 5;

	gate();
	for (unsigned i = 0; i < rounds; i++) {
		::operator delete(::operator new(RETURNED));
		char *array = new char[IN_ARRAY]; /* the library's, which calls the program's operator new */
		KEEP(array);
		delete[] array;
		::operator delete(::operator new(BEHIND, std::nothrow), std::nothrow);
		::operator delete(::operator new(POOLED, std::nothrow), std::nothrow);
	}
	expect_alloc(3 * rounds, KEPT, "malloc");
	expect_alloc(2 * rounds, PASSING, "malloc");
	expect_release(2 * rounds, PASSING, "free");
	expect_alloc(rounds, GIVEN, "malloc");
	expect_release(rounds, GIVEN, "free");
	expect_alloc(rounds, RETURNED, "operator new(" SIZE_T ")");
	expect_release(rounds, RETURNED, "operator delete(void*)");
	expect_alloc(rounds, IN_ARRAY, "operator new[](" SIZE_T ")");
	expect_release(rounds, IN_ARRAY, "operator delete[](void*)|operator delete[](void*, " SIZE_T ")");
	expect_alloc(rounds, BEHIND, "operator new(" SIZE_T ", std::nothrow_t const&)");
	expect_release(rounds, BEHIND, "operator delete(void*, std::nothrow_t const&)");
	expect_alloc(rounds, POOLED, "operator new(" SIZE_T ", std::nothrow_t const&)");
	expect_release(rounds, POOLED, "operator delete(void*, std::nothrow_t const&)");
	expect_live(3 * rounds, KEPT);
	gate();
	return 0;
}
