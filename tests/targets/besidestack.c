/* A thread's stack directly below an mmapped chunk: the kernel merges both into one mapping. Another mmapped chunk is
 * lost. Prints "ready", then the address of the chunk above the stack and the number of kept chunks; ends with the
 * standard input. */
#include "target.h"
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define STACK (256u << 10)
#define TRIES 16

void *kept[TRIES];

static NOINLINE void lose(void)
{
	void *p = malloc(500000);

	memset(p, 0x55, 500000);
	KEEP(p);
}

static void *work(void *argument)
{
	for (;;)
		pause();
	return argument;
}

int main(void)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	pthread_attr_t attributes;
	pthread_t thread;
	unsigned i = 0;

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	for (; i < TRIES; i++) {
		kept[i] = malloc(300000);
		memset(kept[i], 0x44, 300000);
		void *const place = (void *)(((uintptr_t)kept[i] & ~(page - 1)) - STACK);

		if (mmap(place, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
			 0) != place)
			continue;
		pthread_attr_init(&attributes);
		CHECK(pthread_attr_setstack(&attributes, place, STACK) == 0);
		CHECK(pthread_create(&thread, &attributes, work, NULL) == 0);
		break;
	}
	CHECK(i < TRIES);
	lose();
	wipe_stack();
	say("ready");
	say("%p %u", kept[i], i + 1);
	wait_for_input_end();
	return 0;
}
