/* A breakpoint replaces an instruction of one byte that moves the stack: `leave` after a call whose result is returned
 * unchanged, and `push` at the entry of a traced function of the program. Stacks must be those before the instruction
 * was executed. */
#include "target.h"
#include <new>

/* Always with a frame pointer: leave, push. */
#define FRAMED NOINLINE __attribute__((optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")))

FRAMED static void *wrapper(size_t size)
{
	return ::operator new(size);
}

FRAMED void operator delete(void *p) noexcept
{
	free(p);
}

FRAMED static void release_in_wrapper(void *p)
{
	::operator delete(p);
}

FRAMED static void both()
{
	void *p = wrapper(33951);

	KEEP(p);
	release_in_wrapper(p);
}

int main()
{
	gate();
	for (int i = 0; i < 10; i++)
		both();
	expect_alloc(10, 33951, "operator new(" SIZE_T ")");
	expect_release(10, 33951, "operator delete(void*)");
	say("expect stack 33951 wrapper both main");
	gate();
	return 0;
}
