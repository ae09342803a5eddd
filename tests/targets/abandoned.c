/* The program's own malloc is interrupted by a signal, whose handler leaves it by siglongjmp, with and without an
 * allocation of its own. Allocations before and afterwards, deeper and less deep on the stack, must be recorded. */
#include "target.h"
#include <setjmp.h>

static char arena[32 << 20] __attribute__((aligned(16)));
static size_t used;
static sigjmp_buf out;
static int is_allocating; /* the handler allocates */

NOINLINE void *malloc(size_t size)
{
	const size_t at = used;

	CHECK(at + size + 32 < sizeof(arena));
	used += (size + 31) & ~(size_t)15;
	if (size == 34001)
		raise(SIGUSR1); /* the handler does not return */
	return arena + at;
}

NOINLINE void free(void *p)
{
	KEEP(p);
}

static void handle(int number)
{
	(void)number;
	if (is_allocating) {
		void *p = malloc(34002);

		KEEP(p);
	}
	siglongjmp(out, 1);
}

static NOINLINE void abandon(unsigned deeper)
{
	volatile char local[128];

	local[0] = (char)deeper;
	if (deeper)
		abandon(deeper - 1);
	else
		free(malloc(34001));
	(void)local[0]; /* no tail call */
}

static NOINLINE void work(unsigned deeper)
{
	volatile char local[128];

	local[0] = (char)deeper;
	if (deeper)
		work(deeper - 1);
	else
		free(malloc(34003));
	(void)local[0];
}

int main(void)
{
	const unsigned rounds = 120;
	struct sigaction action = {.sa_handler = handle};

	CHECK(!sigaction(SIGUSR1, &action, NULL));
	gate();
	for (unsigned i = 0; i < rounds; i++) {
		is_allocating = i & 1;
		if (!sigsetjmp(out, 1))
			abandon(i % 5);
		work(i % 7);
		work(i % 3);
	}
	expect_alloc(2 * rounds, 34003, "malloc");
	expect_release(2 * rounds, 34003, "free");
	say("expect-between + 0 %u 34002 malloc", rounds);
	gate();
	return 0;
}
