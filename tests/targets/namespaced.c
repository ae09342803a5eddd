/* A second C library, in a link-map namespace of its own: namespaced [end].
 *
 * With each C library 300 blocks of 120 bytes are kept, and 40 of 56 bytes lost; with the second one a block of
 * 300,000 bytes is also kept, and one of 200,000 lost. Two threads have caches of both. Prints "ready" and ends with
 * the standard input; with "end" it ends at once. */
#define _GNU_SOURCE
#include "target.h"
#include <dlfcn.h>

typedef void *(*malloc_function)(size_t);
typedef void (*free_function)(void *);

static malloc_function mallocs[2];
static free_function frees[2];
void *kept[2][300], *large;
static volatile unsigned ready;

static NOINLINE void plant(unsigned which)
{
	for (unsigned i = 0; i < 300; i++) {
		void *freed = mallocs[which](24 + i);

		kept[which][i] = memset(mallocs[which](120), 0x11, 120);
		if (i < 40) {
			void *p = memset(mallocs[which](56), 0x22, 56);

			KEEP(p);
		}
		frees[which](freed);
		freed = NULL;
		KEEP(freed);
	}
}

static void *work(void *argument)
{
	for (unsigned which = 0; which < 2; which++)
		for (unsigned i = 0; i < 8; i++)
			frees[which](mallocs[which](500));
	wipe_stack();
	__atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
	for (;;)
		pause();
	return argument;
}

static NOINLINE void plant_large(void)
{
	void *p;

	large = memset(mallocs[1](300000), 0x11, 300000);
	p = memset(mallocs[1](200000), 0x22, 200000);
	KEEP(p);
}

int main(int argc, char **argv)
{
	void *other = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
	pthread_t thread;

	(void)argv;
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	CHECK(other);
	mallocs[0] = malloc;
	frees[0] = free;
	mallocs[1] = (malloc_function)(uintptr_t)dlsym(other, "malloc");
	frees[1] = (free_function)(uintptr_t)dlsym(other, "free");
	CHECK(mallocs[1] && frees[1]);
	plant(0);
	plant(1);
	plant_large();
	wipe_stack();
	for (unsigned i = 0; i < 2; i++)
		CHECK(pthread_create(&thread, NULL, work, NULL) == 0);
	while (ready < 2)
		sleep_ms(1);
	wipe_stack();
	if (argc > 1)
		exit(0);
	say("ready");
	wait_for_input_end();
	return 0;
}
