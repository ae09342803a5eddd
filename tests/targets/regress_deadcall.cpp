/* Calls that never return, left in flight: later allocations and releases, at the same place on the stack and by the
 * same call instruction, must not be taken for parts of them. */
#include "target.h"
#include <csetjmp>
#include <new>

static volatile size_t huge = static_cast<size_t>(PTRDIFF_MAX) + 30900;
static jmp_buf way_out;
static char arena[64];
static bool je_leaves;
static void *je_cached; /* a block that je_realloc releases, too */
static void *pending;   /* a block that operator delete releases, too */

/* An allocator whose realloc is left by a longjmp. */
extern "C" {
void *je_malloc(size_t size);
void *je_realloc(void *p, size_t size);
void je_free(void *p);
NOINLINE void *je_malloc(size_t size)
{
	KEEP(size);
	return arena;
}

NOINLINE void *je_realloc(void *p, size_t size)
{
	KEEP(size);
	if (je_leaves)
		longjmp(way_out, 1);
	free(je_cached);
	je_cached = nullptr;
	return p;
}

NOINLINE void je_free(void *p)
{
	KEEP(p);
}
}

NOINLINE void operator delete(void *p) noexcept
{
	void *other = pending;

	pending = nullptr;
	free(other);
	free(p);
}

NOINLINE void operator delete(void *p, size_t) noexcept
{
	operator delete(p);
}

NOINLINE void operator delete[](void *p) noexcept
{
	free(p);
	KEEP(p);
}

NOINLINE void operator delete[](void *p, size_t) noexcept
{
	operator delete[](p);
}

extern "C" {
NOINLINE void *helper(size_t size);
NOINLINE void after_a_throw(unsigned rounds);
}

void *helper(size_t size)
{
	void *p = malloc(size);

	KEEP(p);
	return p;
}

/* A failed new, and blocks that a function called from the same frame allocates. */
void after_a_throw(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		try {
			void *p = ::operator new(huge);
			KEEP(p);
		} catch (const std::bad_alloc &) {
		}
		void *kept = helper(31001);

		free(helper(31002));
		KEEP(kept);
	}
	expect_alloc(rounds, 31001, "malloc");
	say("expect = %u 31001", rounds);
	expect_alloc(rounds, 31002, "malloc");
	expect_release(rounds, 31002, "free");
	say("expect stack 31001 helper after_a_throw main");
}

/* One call instruction, the same place on the stack: a new that throws, then other functions. */
static NOINLINE void by_one_site(unsigned rounds)
{
	void *(*volatile const functions[])(size_t) = {::operator new, malloc, ::operator new, helper, ::operator new,
						       ::operator new };
	const size_t sizes[] = {huge, 31003, huge, 31004, huge, 31005};

	for (unsigned i = 0; i < rounds; i++)
		for (unsigned k = 0; k < 6; k++) {
			void *p = nullptr;

			try {
				p = functions[k](sizes[k]);
			} catch (const std::bad_alloc &) {
			}
			if (p && k == 5)
				::operator delete(p);
			else
				free(p);
		}
	expect_alloc(rounds, 31003, "malloc");
	expect_release(rounds, 31003, "free");
	expect_alloc(rounds, 31004, "malloc");
	expect_release(rounds, 31004, "free");
	expect_alloc(rounds, 31005, "operator new(" SIZE_T ")");
	expect_release(rounds, 31005, "operator delete(void*)");
}

/* A realloc that a longjmp leaves has released nothing; its block is released later, and its address allocated again.
 * The counter of rounds is volatile, because compilers for ARM would increment it as soon as setjmp has returned, which
 * it does twice. */
static NOINLINE void left_realloc(unsigned rounds)
{
	for (volatile unsigned i = 0; i < rounds; i++) {
		void *p = je_malloc(31006);

		je_leaves = true;
		if (!setjmp(way_out))
			p = je_realloc(p, 31007);
		je_leaves = false;
		je_free(arena);
		p = je_malloc(31008);
		je_free(p);
	}
	expect_alloc(rounds, 31006, "je_malloc");
	expect_release(rounds, 31006, "je_free");
	expect_alloc(rounds, 31008, "je_malloc");
	expect_release(rounds, 31008, "je_free");
}

/* A realloc that releases another block, too. */
static NOINLINE void releasing_realloc(unsigned rounds)
{
	void *p = je_malloc(31012);

	for (unsigned i = 0; i < rounds; i++) {
		je_cached = malloc(31013);
		p = je_realloc(p, 31014);
	}
	je_free(p);
	expect_alloc(1, 31012, "je_malloc");
	expect_release(1, 31012, "je_realloc");
	expect_alloc(rounds, 31014, "je_realloc");
	expect_release(rounds - 1, 31014, "je_realloc");
	expect_release(1, 31014, "je_free");
	expect_alloc(rounds, 31013, "malloc");
	expect_release(rounds, 31013, "free");
}

/* operator delete that releases another block before its own. */
static NOINLINE void two_in_one(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		void *p = ::operator new(31009);

		pending = malloc(31010);
		::operator delete(p);
	}
	expect_alloc(rounds, 31009, "operator new(" SIZE_T ")");
	expect_release(rounds, 31009, "operator delete(void*)");
	expect_alloc(rounds, 31010, "malloc");
	expect_release(rounds, 31010, "free");
}

/* Two forms of delete, called by one instruction, each with a block at the same address. */
static NOINLINE void releases_by_one_site(unsigned rounds)
{
	void *(*volatile const allocate[])(size_t) = {::operator new, ::operator new[] };
	void (*volatile const release[])(void *) = {::operator delete, ::operator delete[] };

	for (unsigned i = 0; i < 2 * rounds; i++)
		release[i % 2](allocate[i % 2](31011));
	expect_alloc(rounds, 31011, "operator new(" SIZE_T ")");
	expect_release(rounds, 31011, "operator delete(void*)");
	expect_alloc(rounds, 31011, "operator new[](" SIZE_T ")");
	expect_release(rounds, 31011, "operator delete[](void*)");
}

int main()
{
	const unsigned rounds = 20;

	gate();
	after_a_throw(rounds);
	by_one_site(rounds);
	left_realloc(rounds);
	releasing_realloc(rounds);
	two_in_one(rounds);
	releases_by_one_site(rounds);
	gate();
	return 0;
}
