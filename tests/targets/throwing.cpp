/* Exceptions through frames that allocate, and out of traced functions themselves. */
#include "target.h"
#include <new>
#include <stdexcept>

struct owner {
	void *p;
	explicit owner(size_t size) : p(malloc(size))
	{
	}
	~owner()
	{
		free(p);
	}
};

static volatile size_t huge = static_cast<size_t>(PTRDIFF_MAX) + 30900;
static unsigned handled;

static NOINLINE void deep(unsigned levels)
{
	owner o(33301);

	if (!levels)
		throw std::runtime_error("bottom");
	deep(levels - 1);
	KEEP(o.p);
}

/* Called by operator new within itself: allocates there, and leaves it by a throw the 3rd time. */
static void handler()
{
	void *p = malloc(33302); /* within operator new, yet no part of it */

	KEEP(p);
	free(p);
	if (++handled % 3 == 0)
		throw std::bad_alloc();
}

int main()
{
	const unsigned rounds = 20;
	unsigned caught = 0;

	gate();
	for (unsigned i = 0; i < rounds; i++) {
		try {
			deep(10);
		} catch (const std::runtime_error &) {
			caught++;
		}
		free(malloc(33303));
	}
	CHECK(caught == rounds);
	expect_alloc(rounds * 11, 33301, "malloc");
	expect_release(rounds * 11, 33301, "free");
	expect_alloc(rounds, 33303, "malloc");
	expect_release(rounds, 33303, "free");

	std::set_new_handler(handler);
	for (unsigned i = 0; i < rounds; i++) {
		try {
			void *p = ::operator new(huge);
			KEEP(p);
		} catch (const std::bad_alloc &) {
			caught++;
		}
		void *p = ::operator new(33304);
		KEEP(p);
		::operator delete(p);
	}
	CHECK(caught == 2 * rounds && handled == 3 * rounds);
	say("handled %u", handled);
	expect_alloc(rounds, 33304, "operator new(" SIZE_T ")");
	expect_release(rounds, 33304, "operator delete(void*)");
	say("expect-between + 0 %u 33302 malloc", handled); /* inner calls of a new that never returns */
	gate();
	return 0;
}
