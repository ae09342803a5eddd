/* Calls every function of the malloc family, each with a size of its own, in success, failure and special cases. With
 * an argument it does not call pvalloc, because some allocators lack it. */
#include "target.h"
#include <malloc.h>

#define HUGE ((size_t)PTRDIFF_MAX + 30900)

static volatile size_t huge = HUGE, zero = 0;

static void plain(void)
{
	void *p = malloc(30001), *c = calloc(10, 3001);

	CHECK(p && c);
	free(p);
	free(c);
	expect_alloc(1, 30001, "malloc");
	expect_release(1, 30001, "free");
	expect_alloc(1, 30010, "calloc");
	expect_release(1, 30010, "free");
}

static void aligned(int with_pvalloc)
{
	void *p = NULL;

	CHECK(posix_memalign(&p, 64, 30101) == 0 && p);
	free(p);
	p = aligned_alloc(32, 30112);
	CHECK(p);
	free(p);
	p = memalign(128, 30103);
	CHECK(p);
	free(p);
	p = valloc(30104);
	CHECK(p);
	free(p);
	expect_alloc(1, 30101, "posix_memalign");
	/* in some libraries these are one function with two names */
	expect_alloc(1, 30112, "aligned_alloc|memalign");
	expect_alloc(1, 30103, "memalign|aligned_alloc");
	expect_alloc(1, 30104, "valloc");
	expect_release(1, 30101, "free");
	expect_release(1, 30112, "free");
	expect_release(1, 30103, "free");
	expect_release(1, 30104, "free");
	(void)with_pvalloc;
#ifdef __GLIBC__
	if (!with_pvalloc)
		return;
	p = pvalloc(30000); /* the size is rounded up to whole pages */
	CHECK(p);
	free(p);
	expect_alloc(1, 32768, "pvalloc");
	expect_release(1, 32768, "free");
#endif
}

static void resized(void)
{
	void *p = realloc(NULL, 30201); /* only an allocation: nothing is released */
	char *q;

	CHECK(p);
	q = realloc(p, 30202);
	CHECK(q);
	q = realloc(q, 30203); /* a release and an allocation, even if it stays in place */
	CHECK(q);
	KEEP(q);
	CHECK(!realloc(q, huge)); /* fails: the old block stays live */
	q[30202] = 1;
	q = reallocarray(q, 4, 7551);
	CHECK(q);
	CHECK(!reallocarray(q, huge, 2)); /* overflow: fails without a call of realloc */
	free(q);
	expect_alloc(1, 30201, "realloc");
	expect_release(1, 30201, "realloc");
	expect_alloc(1, 30202, "realloc");
	expect_release(1, 30202, "realloc");
	expect_alloc(1, 30203, "realloc");
	expect_release(1, 30203, "reallocarray");
	expect_alloc(1, 30204, "reallocarray");
	expect_release(1, 30204, "free");

	p = malloc(30211);
	CHECK(p);
	KEEP(p);
	q = realloc(p, zero); /* glibc releases; other libraries may return a block of size 0 */
	free(q);
	expect_alloc(1, 30211, "malloc");
	expect_release(1, 30211, "realloc");
}

static void failing(void)
{
	void *p = NULL;

	CHECK(!malloc(huge));
	CHECK(!calloc(huge / 2, 30301));
	CHECK(posix_memalign(&p, 3, 30302) == EINVAL); /* not a power of two */
	CHECK(posix_memalign(&p, 64, huge) == ENOMEM);
	CHECK(!aligned_alloc(64, huge));
	CHECK(!memalign(64, huge));
	CHECK(!valloc(huge));
	free(NULL);
	free(NULL);
}

static void empty(void)
{
	void *p = malloc(zero), *q = malloc(zero);

	KEEP(p);
	KEEP(q);
	CHECK(p && q && p != q);
	free(p);
	free(q);
	say("expect-at-least + 2 0 malloc");
}

static void kept(void)
{
	for (int i = 0; i < 7; i++) {
		void *p = malloc(30401);

		CHECK(p);
		KEEP(p);
	}
	expect_alloc(7, 30401, "malloc");
	expect_live(7, 30401);
}

static void within_the_library(void)
{
	char text[30501];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	char *copy = strdup(text);

	CHECK(copy);
	free(copy);
	copy = strndup(text, 30501);
	CHECK(copy);
	free(copy);
	expect_alloc(2, 30501, "malloc");
	expect_release(2, 30501, "free");
}

int main(int argc, char **argv)
{
	gate();
	plain();
	aligned(argc < 2);
	(void)argv;
	resized();
	failing();
	empty();
	kept();
	within_the_library();
	gate();
	return 0;
}
