/* ifuncs LIBRARY [lazy|now]: allocators whose functions are IFUNCs: a resolver chooses the code at run time. One is in
 * the program, one in a library; the code that is not chosen must make no events. */
#include "target.h"
#include <dlfcn.h>

#define ROUNDS 25

static char arena[ROUNDS][16];
static unsigned given;

void *mi_malloc(size_t size);
void mi_free(void *p);
static NOINLINE void *mi_quick(size_t size)
{
	return size ? arena[given++] : NULL;
}

static NOINLINE void *mi_slow(size_t size)
{
	return size ? NULL : arena;
}

static NOINLINE void mi_release(void *p)
{
	KEEP(p);
}

typedef void *(*allocating)(size_t);
typedef void (*releasing)(void *);

/* A resolver runs early: it may not call functions of libraries. */
__attribute__((used)) static allocating choose_malloc(void)
{
	static volatile int quick = 1;

	return quick ? mi_quick : mi_slow;
}

__attribute__((used)) static releasing choose_free(void)
{
	return mi_release;
}

void *mi_malloc(size_t size) __attribute__((ifunc("choose_malloc")));
void mi_free(void *p) __attribute__((ifunc("choose_free")));

int main(int argc, char **argv)
{
	void *library = NULL;
	unsigned (*work)(unsigned) = NULL;

	CHECK(argc > 1);
	if (strcmp(argv[1], "none")) {
		library = dlopen(argv[1], argc > 2 && !strcmp(argv[2], "now") ? RTLD_NOW : RTLD_LAZY);
		CHECK(library);
		work = (unsigned (*)(unsigned))dlsym(library, "library_work");
		CHECK(work);
		/* when functrace attaches je_free is bound, and with lazy binding je_malloc is not */
		CHECK(work(0) == 0);
	}
	gate();
	for (unsigned i = 0; i < ROUNDS; i++) {
		void *p = mi_malloc(36101);

		CHECK(p == arena[i]);
		mi_free(p);
	}
	expect_alloc(ROUNDS, 36101, "mi_malloc");
	expect_release(ROUNDS, 36101, "mi_free");
	if (work) {
		CHECK(work(ROUNDS) == ROUNDS);
		expect_alloc(ROUNDS, 36111, "je_malloc");
		expect_release(ROUNDS, 36111, "je_free");
	}
	gate();
	return 0;
}
