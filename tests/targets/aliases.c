/* aliases: calls functions that have several names at one address (glibc's memalign and aligned_alloc), in all the ways
 * in which programs call functions. The trace must have the name by which each call is made, or, if a call has no name,
 * the first name in the module.
 *
 * aliases LIBRARY LIBRARY ROUNDS: loads two libraries in turns at the same address. They have the same layout, but one
 * calls memalign where the other calls aligned_alloc.
 * aliases LIBRARY: loads a library that forks in a function of two names. */
#include "target.h"
#include <dlfcn.h>
#include <malloc.h>
#include <sys/auxv.h>

/* Weak, because a static program has no dynamic linker. Calls in a static program have no names. */
__typeof__(dlsym) dlsym __attribute__((weak));
__typeof__(dlopen) dlopen __attribute__((weak));
__typeof__(dlclose) dlclose __attribute__((weak));

typedef void *(*aligned_function)(size_t alignment, size_t size);

static volatile aligned_function by_pointer[2] = {memalign, aligned_alloc};
aligned_function open_pointer = memalign; /* external, so that the compiler may reach it through a GOT slot */

/* With optimization this function ends in a jump to memalign. */
NOINLINE static void *wrapped_memalign(size_t size)
{
	return memalign(64, size);
}

NOINLINE static void *wrapped_aligned_alloc(size_t size)
{
	return aligned_alloc(64, size);
}

/* Calls memalign, aligned_alloc and other functions, also by wrappers, each from one place. */
static void direct(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		void *blocks[6] = {memalign(64, 37001),     aligned_alloc(64, 37056),
				   wrapped_memalign(37003), wrapped_aligned_alloc(37120),
				   valloc(37005),           NULL};

		CHECK(posix_memalign(&blocks[5], 64, 37006) == 0);
		for (unsigned b = 0; b < 6; b++) {
			CHECK(blocks[b]);
			free(blocks[b]);
		}
	}
}

static void indirect(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		for (unsigned n = 0; n < 2; n++) {
			void *p = by_pointer[n](64, n ? 37248 : 37007);

			CHECK(p);
			free(p);
		}
		void *p = open_pointer(64, 37008);

		CHECK(p);
		free(p);
	}
	open_pointer = aligned_alloc;
	free(open_pointer(64, 37312));
}

static void looked_up(unsigned rounds)
{
	aligned_function found = (aligned_function)(uintptr_t)dlsym(RTLD_DEFAULT, "memalign");

	CHECK(found);
	for (unsigned i = 0; i < rounds; i++)
		free(found(64, 37009));
}

static void whole_pages(unsigned rounds)
{
#ifdef __GLIBC__
	for (unsigned i = 0; i < rounds; i++)
		free(pvalloc(30000));
	expect_alloc(rounds, 32768, "pvalloc");
	expect_release(rounds, 32768, "free");
#else
	(void)rounds;
#endif
}

/* Loads a library, calls its library_work() and unloads it. Returns the address that library_work() had. */
static void *load_and_work(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);

	CHECK(library);
	void *work = dlsym(library, "library_work");

	CHECK(work && ((int (*)(void))(uintptr_t)work)() == 1);
	CHECK(dlclose(library) == 0);
	return work;
}

static int in_turns(char **paths, unsigned rounds)
{
	unsigned same = 0;

	gate();
	for (unsigned i = 0; i < rounds; i++) {
		void *first = load_and_work(paths[0]), *second = load_and_work(paths[1]);

		same += first == second;
	}
	CHECK(same > rounds / 2);
	gate();
	expect_alloc(2 * rounds, 37401, "memalign");
	expect_alloc(2 * rounds, 37440, "aligned_alloc");
	expect_release(2 * rounds, 37401, "free");
	expect_release(2 * rounds, 37440, "free");
	return 0;
}

/* Loads a library whose calls fork. Each child returns from the call that has forked it, releases the block of that
 * call, makes another pair of calls, and ends. */
static int in_children(const char *path)
{
	gate();
	load_and_work(path);
	gate();
	for (unsigned i = 0; i < 2; i++) {
		const char *which = i ? "-child" : "";

		say("expect%s + 2 37601 je_memalign", which);
		say("expect%s - 2 37601 je_free", which);
		say("expect%s + 1 37602 je_aligned_alloc", which);
		say("expect%s - 1 37602 je_free", which);
	}
	say("expect-child + 3 37603 je_memalign");
	say("expect-child - 3 37603 je_free");
	return 0;
}

int main(int argc, char **argv)
{
	const unsigned rounds = 3;
	const int is_static = !getauxval(AT_BASE);

	if (argc == 2)
		return in_children(argv[1]);
	if (argc > 2)
		return in_turns(argv + 1, argument(argc, argv, 3, 6));
#ifdef __GLIBC__
	const char *first = "aligned_alloc";
	const char *named = is_static ? first : "memalign";
#else
	const char *first = "memalign", *named = first;
#endif
	const size_t released[] = {37001, 37056, 37003, 37120, 37005, 37006, 37007, 37248, 37008};

	gate();
	direct(rounds);
	indirect(rounds);
	if (!is_static)
		looked_up(rounds);
	whole_pages(rounds);
	gate();
	expect_alloc(rounds, 37001, named);
	expect_alloc(rounds, 37056, "aligned_alloc");
	expect_alloc(rounds, 37003, named);
	expect_alloc(rounds, 37120, "aligned_alloc");
	expect_alloc(rounds, 37005, "valloc");
	expect_alloc(rounds, 37006, "posix_memalign");
	expect_alloc(rounds, 37007, first);
	expect_alloc(rounds, 37248, "aligned_alloc");
	expect_alloc(rounds, 37008, first);
	expect_alloc(1, 37312, "aligned_alloc");
	expect_release(1, 37312, "free");
	for (size_t i = 0; i < sizeof(released) / sizeof(*released); i++)
		expect_release(rounds, released[i], "free");
	if (!is_static) {
		expect_alloc(rounds, 37009, first);
		expect_release(rounds, 37009, "free");
	}
	return 0;
}
