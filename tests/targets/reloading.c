/* reloading LIBRARY: until the gate opens, one thread loads, uses and unloads the library (alternately lazily and not,
 * now and then in a namespace of its own), and two threads allocate. So functrace attaches while the dynamic linker
 * works, again and again. */
#include "target.h"
#include <dlfcn.h>

static const char *path;
static volatile int over;
static unsigned wrong, rounds;

static void *loader(void *unused)
{
	while (!over) {
		void *library = dlopen(path, rounds & 1 ? RTLD_NOW : RTLD_LAZY);
		int (*work)(unsigned) = library ? (int (*)(unsigned))dlsym(library, "library_work") : NULL;

		if (!work || work(rounds) != 1)
			__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
		if (library)
			dlclose(library);
#ifdef __GLIBC__
		/* with a second C library; seldom, because it takes long */
		if (rounds % 16 == 0) {
			library = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
			work = library ? (int (*)(unsigned))dlsym(library, "library_work") : NULL;
			if (!work || work(rounds) != 1)
				__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
			if (library)
				dlclose(library);
		}
#endif
		rounds++;
	}
	return unused;
}

static void *allocator(void *unused)
{
	while (!over) {
		unsigned char *p = malloc(39901), *q = calloc(1, 39902);

		if (!p || !q || q[0] || q[39901])
			__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
		memset(p, 1, 39901);
		memset(q, 1, 39902);
		free(p);
		free(q);
		sleep_ms(1);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t tids[3];

	CHECK(argc > 1);
	path = argv[1];
	for (unsigned i = 0; i < 3; i++)
		CHECK(pthread_create(&tids[i], NULL, i ? allocator : loader, NULL) == 0);
	while (!*(volatile unsigned *)&rounds)
		sleep_ms(1);
	gate();
	over = 1;
	for (unsigned i = 0; i < 3; i++)
		CHECK(pthread_join(tids[i], NULL) == 0);
	say("wrong %u", wrong);
	return 0;
}
