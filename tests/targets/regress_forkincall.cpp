/* Forks during a traced call: both processes return from it, with a block each. */
#include "target.h"
#include <new>
#include <sys/wait.h>

extern "C" {
void *je_malloc(size_t size);
void je_free(void *p);
static char arena[64];
static bool je_forks;
static pid_t child;

NOINLINE void *je_malloc(size_t size)
{
	KEEP(size);
	if (je_forks)
		child = fork();
	return arena;
}

NOINLINE void je_free(void *p)
{
	KEEP(p);
}
}

/* operator new that forks between its malloc and its return. */
NOINLINE void *operator new(size_t size)
{
	void *p = malloc(size);

	if (je_forks)
		child = fork();
	return p;
}

NOINLINE void operator delete(void *p) noexcept
{
	free(p);
	KEEP(p);
}

NOINLINE void operator delete(void *p, size_t) noexcept
{
	operator delete(p);
}

static void end_child(int status)
{
	if (!child)
		_exit(status);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main()
{
	const unsigned rounds = 5;

	gate();
	je_forks = true;
	for (unsigned i = 0; i < rounds; i++) {
		void *p = je_malloc(31021);

		je_free(p);
		end_child(0);
	}
	for (unsigned i = 0; i < rounds; i++) {
		void *p = ::operator new(31022);

		::operator delete(p);
		end_child(0);
	}
	je_forks = false;
	expect_alloc(rounds, 31021, "je_malloc");
	expect_release(rounds, 31021, "je_free");
	expect_alloc(rounds, 31022, "operator new(" SIZE_T ")");
	expect_release(rounds, 31022, "operator delete(void*)");
	say("expect-child + %u 31021 je_malloc", rounds);
	say("expect-child - %u 31021 je_free", rounds);
	say("expect-child + %u 31022 operator new(" SIZE_T ")", rounds);
	say("expect-child - %u 31022 operator delete(void*)", rounds);
	gate();
	return 0;
}
