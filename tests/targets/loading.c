/* loading LIBRARY ROUNDS: dlopen, allocations by the library (which also has a traced function of its own), dlclose;
 * then the same again, so that its addresses are reused. */
#include "target.h"
#include <dlfcn.h>

NOINLINE static void work_between(void)
{
	void *p = malloc(35003);

	KEEP(p);
	free(p);
}

int main(int argc, char **argv)
{
	const unsigned rounds = argument(argc, argv, 2, 10);
	unsigned good = 0;

	CHECK(argc > 1);
	gate();
	work_between();
	for (unsigned i = 0; i < rounds; i++) {
		void *library = dlopen(argv[1], i & 1 ? RTLD_NOW : RTLD_LAZY);

		if (!library)
			say("%s", dlerror());
		CHECK(library);
		int (*work)(unsigned) = (int (*)(unsigned))dlsym(library, "library_work");

		CHECK(work);
		good += (unsigned)work(i);
		CHECK(dlclose(library) == 0);
		/* Another mapping may take its place meanwhile. */
		work_between();
	}
	CHECK(good == rounds);
	expect_alloc(rounds, 35001, "malloc");
	expect_release(rounds, 35001, "free");
	expect_alloc(rounds, 35002, "je_malloc");
	expect_release(rounds, 35002, "je_free");
	expect_alloc(rounds + 1, 35003, "malloc");
	expect_release(rounds + 1, 35003, "free");
	gate();
	return 0;
}
