/* pieces HOW: a main arena that is in several pieces.
 *
 *   sbrk      the program calls sbrk itself, between allocations; that memory has the only pointer to a block
 *   blocked   brk(2) fails, so malloc maps more
 *   both      both
 *
 * LOST blocks of 56 bytes are lost, KEPT of 120 bytes are in a table, and only the memory of sbrk has a pointer to one
 * of 1000 bytes. If words have 4 bytes, each block has 4 bytes more. Prints "ready", and mallinfo2(3)'s arena, ordblks,
 * uordblks and fordblks; ends with the standard input. */
#include "target.h"
#include <malloc.h>
#include <stdbool.h>
#include <sys/mman.h>

#define LOST     500
#define KEPT     30000
#define BYTES(n) ((n) + 8 - sizeof(void *))

void *kept[KEPT];

static NOINLINE void lose(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		void *p = malloc(BYTES(56));

		memset(p, 0x11, BYTES(56));
		KEEP(p);
	}
}

static NOINLINE void keep(unsigned from, unsigned to)
{
	void *holes[64] = {0};

	for (unsigned i = from; i < to; i++) {
		kept[i] = memset(malloc(BYTES(120)), 0x22, BYTES(120));
		free(holes[i % 64]);
		holes[i % 64] = i % 3 ? malloc(24 + i % 900) : NULL;
	}
	for (unsigned i = 0; i < 64; i++)
		free(holes[i]);
}

static NOINLINE void take(void)
{
	const size_t bytes = 3 * 4096 + 40;
	void **mine = sbrk((intptr_t)bytes);

	CHECK(mine != (void *)-1);
	memset(mine, 0x21, bytes);
	mine = (void **)(((uintptr_t)mine + 15) & ~(uintptr_t)15);
	mine[5] = memset(malloc(BYTES(1000)), 0x33, BYTES(1000));
}

static NOINLINE void block(void)
{
	char *end = sbrk(0);
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	end = (char *)(((uintptr_t)end + page - 1) & ~(page - 1));
	CHECK(mmap(end, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == end);
}

int main(int argc, char **argv)
{
	const bool both = argc > 1 && !strcmp(argv[1], "both");

	CHECK(argc == 2);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	keep(0, KEPT / 4);
	lose(LOST / 2);
	if (both || !strcmp(argv[1], "sbrk"))
		take();
	keep(KEPT / 4, KEPT / 2);
	if (both || !strcmp(argv[1], "blocked"))
		block();
	keep(KEPT / 2, KEPT);
	lose(LOST - LOST / 2);
	wipe_stack();
	say("ready");
	const struct mallinfo2 info = mallinfo2();

	say("%zu %zu %zu %zu", info.arena, info.ordblks, info.uordblks, info.fordblks);
	wait_for_input_end();
	return 0;
}
