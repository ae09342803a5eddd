/* recursion DEPTH: an allocation at the bottom of a deep recursion, one at each 1000th level, and
 * two functions that call each other. */
#include "target.h"
#include <sys/resource.h>

static void *bottom[256];
static unsigned kept;

static NOINLINE unsigned down(unsigned level)
{
	volatile unsigned here = level;

	if (!level) {
		bottom[kept++] = malloc(33001);
		return 1;
	}
	if (level % 1000 == 0) {
		void *p = malloc(33002);

		KEEP(p);
		free(p);
	}
	return down(level - 1) + (here & 1);
}

static NOINLINE unsigned odd(unsigned level);

static NOINLINE unsigned even(unsigned level)
{
	volatile unsigned here = level;

	return level ? odd(level - 1) + (here & 1) : (free(malloc(33003)), 1u);
}

static NOINLINE unsigned odd(unsigned level)
{
	volatile unsigned here = level;

	return level ? even(level - 1) + (here & 1) : (free(malloc(33004)), 1u);
}

static unsigned depth;

static void *run(void *unused)
{
	(void)unused;
	const unsigned sum = down(depth) + even(depth) + odd(depth);

	say("depth %u sum %u", depth, sum);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;
	pthread_t thread;

	depth = argument(argc, argv, 1, 100000);
	gate();
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 20);
	CHECK(pthread_create(&thread, &attr, run, NULL) == 0);
	pthread_join(thread, NULL);
	expect_alloc(1, 33001, "malloc");
	expect_live(1, 33001);
	expect_alloc(depth / 1000, 33002, "malloc");
	expect_release(depth / 1000, 33002, "free");
	/* depth is even: even() ends in even, odd() in odd */
	expect_alloc(1, 33003, "malloc");
	expect_alloc(1, 33004, "malloc");
	expect_release(1, 33003, "free");
	expect_release(1, 33004, "free");
	say("expect stack 33001 down down down down");
	say("expect stack 33003 even odd even odd");
	gate();
	return 0;
}
