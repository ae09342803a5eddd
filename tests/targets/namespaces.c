/* namespaces LIBRARY before|after: a library in a link-map namespace of its own (dlmopen), with a C library of its
 * own: two heaps, two mallocs, both traced. The namespace is created before functrace attaches, or after it. glibc
 * only. */
#include "target.h"
#include <dlfcn.h>

#ifdef __GLIBC__
typedef int (*working)(unsigned);
typedef void *(*allocating)(size_t);
typedef void (*releasing)(void *);

static void *library;
static working work;
static allocating their_malloc;
static releasing their_free;

static void load(const char *path)
{
	library = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
	if (!library)
		say("%s", dlerror());
	CHECK(library);
	work = (working)dlsym(library, "library_work");
	their_malloc = (allocating)dlsym(library, "malloc");
	their_free = (releasing)dlsym(library, "free");
	CHECK(work && their_malloc && their_free);
	CHECK(their_malloc != (allocating)malloc && their_free != (releasing)free);
}

int main(int argc, char **argv)
{
	const unsigned rounds = 10;
	char *ours[10], *theirs[10];

	CHECK(argc > 2);
	if (!strcmp(argv[2], "before"))
		load(argv[1]);
	gate();
	if (strcmp(argv[2], "before"))
		load(argv[1]);
	for (unsigned i = 0; i < rounds; i++) {
		CHECK(work(i) == 1);
		ours[i] = malloc(36201);
		theirs[i] = their_malloc(36202);
		CHECK(ours[i] && theirs[i] && ours[i] != theirs[i]);
		memset(ours[i], 1, 36201);
		memset(theirs[i], 2, 36202);
	}
	for (unsigned i = 0; i < rounds - 1; i++) {
		their_free(theirs[i]);
		free(ours[i]);
	}
	expect_alloc(rounds, 35001, "malloc");
	expect_release(rounds, 35001, "free");
	expect_alloc(rounds, 35002, "je_malloc");
	expect_release(rounds, 35002, "je_free");
	for (size_t size = 36201; size <= 36202; size++) {
		expect_alloc(rounds, size, "malloc");
		expect_release(rounds - 1, size, "free");
		expect_live(1, size);
	}
	say("expect stack 35001 library_work main");
	/* The library and its C library are unloaded. Later allocations are those of the first C library. */
	CHECK(dlclose(library) == 0);
	free(malloc(36203));
	expect_alloc(1, 36203, "malloc");
	expect_release(1, 36203, "free");
	gate();
	return 0;
}
#else
int main(void)
{
	gate();
	gate();
	return 0;
}
#endif
