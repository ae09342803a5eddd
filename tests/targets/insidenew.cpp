/* insidenew [HELPER]: the gate is inside operator new, so that a tracer that attaches there sees only the malloc by
 * which operator new gets its memory: with HELPER 1 in a function that it calls. The block is rightly released by
 * operator delete; then a block of malloc is released by operator delete, which is wrong. */
#include "target.h"
#include <new>

static bool waits, has_helper;

static NOINLINE void *help(size_t size)
{
	void *p = malloc(size);

	KEEP(p);
	return p;
}

NOINLINE void *operator new(size_t size)
{
	if (waits) {
		waits = false;
		gate();
	}
	void *p = has_helper ? help(size) : malloc(size);

	KEEP(p);
	if (!p)
		throw std::bad_alloc();
	return p;
}

NOINLINE void operator delete(void *p) noexcept
{
	free(p);
}

int main(int argc, char **argv)
{
	waits = true;
	has_helper = argc > 1 && atoi(argv[1]);
	::operator delete(::operator new(30001));
	::operator delete(::operator new(30002));
	::operator delete(malloc(30003));
	gate();
	return 0;
}
