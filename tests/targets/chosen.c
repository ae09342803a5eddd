/* chosen: functions of all kinds for functrace -x: static ones, recursion, tail calls, one that is left by longjmp, one
 * with two names, calls through a pointer. tests/scenarios/chosen.py has the results. */
#include "target.h"
#include <setjmp.h>

#ifdef __clang__
#define APART __attribute__((noinline, optnone))
#else
#define APART __attribute__((noipa))
#endif
/* Code after a call, so that the compiler does not turn the call into a jump. */
#define BEHIND_CALL() __asm__ volatile("" ::: "memory")

static APART long leaf(long x)
{
	return x * 3;
}

static APART long factorial(long x)
{
	const long rest = x < 2 ? 1 : factorial(x - 1);

	BEHIND_CALL();
	return x < 2 ? 1 : x * rest;
}

/* With optimisation jumps() jumps to hops(), and hops() to lands(). */
static APART long lands(long x)
{
	return x + 1;
}

static APART long hops(long x)
{
	return lands(x + 1);
}

static APART long jumps(long x)
{
	return hops(x + 1);
}

static jmp_buf out;

static volatile long unknown = 20;

static APART long deeper(long x)
{
	if (x)
		longjmp(out, 1);
	return unknown;
}

static APART long leaves(long x)
{
	const long result = deeper(x) + 1;

	BEHIND_CALL();
	return result;
}

static APART long try_leaving(void)
{
	volatile long result = 0;

	/* Calls leaves() twice from one place: first it is left by longjmp(), then it returns. */
	for (volatile long x = 1; x >= 0; x--)
		if (!setjmp(out))
			result += leaves(x);
	return result;
}

long short_name(long x);
long __a_longer_name(long x) __attribute__((alias("short_name")));
APART long short_name(long x)
{
	return x + 100;
}

static APART long within(long x)
{
	return x * 2;
}

/* Called through a pointer: the call instruction does not say which function it calls. */
static APART long by_pointer(long x)
{
	const long more = within(x);

	BEHIND_CALL();
	return more + 7;
}

/* With optimisation this function ends in a jump to malloc. */
static APART void *makes(size_t size)
{
	return malloc(size);
}

static APART void returns_nothing(long *x)
{
	*x = 5;
}

/* Calls allocators, so that their calls are nested in the call of this function. */
static APART long allocates(long count)
{
	long sum = 0;

	for (long i = 0; i < count; i++) {
		void *volatile block = malloc(30601);

		sum += block != NULL;
		free(block);
	}
	return sum;
}

int main(void)
{
	static long (*volatile pointer)(long) = by_pointer;
	static void *(*volatile maker)(size_t) = makes;
	long x = 0;

	gate();
	CHECK(leaf(2) == 6);
	CHECK(factorial(4) == 24);
	CHECK(jumps(1) == 4);
	CHECK(try_leaving() == 21);
	CHECK(short_name(1) + __a_longer_name(2) == 203);
	CHECK(pointer(1) + pointer(2) == 20);
	free(maker(30602));
	returns_nothing(&x);
	CHECK(x == 5);
	CHECK(allocates(2) == 2);
	expect_alloc(2, 30601, "malloc<memory>");
	expect_release(2, 30601, "free<memory>");
	expect_alloc(1, 30602, "malloc<memory>");
	expect_release(1, 30602, "free<memory>");
	gate();
	return 0;
}
