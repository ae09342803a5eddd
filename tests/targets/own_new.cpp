/* own_new: the program replaces the global operator new and delete; a part of them takes memory from malloc, which is
 * one event, a part from an arena. The C++ library's allocations come here, too. */
#include "target.h"
#include <new>
#include <string>
#include <vector>

static char arena[1 << 20] __attribute__((aligned(64)));
static size_t used;

static void *give(size_t size)
{
	void *p = arena + used;

	used += (size + 63) & ~static_cast<size_t>(63);
	return used <= sizeof(arena) ? p : nullptr;
}

NOINLINE void *operator new(size_t size)
{
	void *p = malloc(size);

	KEEP(p);
	if (!p)
		throw std::bad_alloc();
	return p;
}

NOINLINE void operator delete(void *p) noexcept
{
	free(p);
}

NOINLINE void operator delete(void *p, size_t) noexcept
{
	operator delete(p); /* a jump, or a call */
}

NOINLINE void *operator new[](size_t size)
{
	return give(size);
}

NOINLINE void operator delete[](void *p) noexcept
{
	KEEP(p);
}

NOINLINE void operator delete[](void *p, size_t) noexcept
{
	KEEP(p);
}

int main()
{
	const unsigned rounds = 15;

	gate();
	for (unsigned i = 0; i < rounds; i++) {
		::operator delete(::operator new(36701));
		::operator delete(::operator new(36702), size_t(36702));
		char *array = new char[36703];
		KEEP(array);
		delete[] array;
		std::string text(36703, 'x'); /* its constructor may be the library's, new is not */
		const char *c = text.c_str();
		KEEP(c);
		void *p = malloc(36705);
		free(p);
	}
	for (size_t size = 36701; size <= 36702; size++)
		expect_alloc(rounds, size, "operator new(" SIZE_T ")");
	expect_release(rounds, 36701, "operator delete(void*)");
	expect_release(rounds, 36702, "operator delete(void*, " SIZE_T ")");
	expect_alloc(rounds, 36703, "operator new[](" SIZE_T ")");
	expect_release(rounds, 36703, "operator delete[](void*)");
	expect_alloc(rounds, 36704, "operator new(" SIZE_T ")");
	say("expect-between - 0 %u 36704 operator delete(void*)", rounds);
	say("expect-between - 0 %u 36704 operator delete(void*, " SIZE_T ")", rounds);
	expect_alloc(rounds, 36705, "malloc");
	expect_release(rounds, 36705, "free");
	gate();
	return 0;
}
