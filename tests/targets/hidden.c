/* hidden: an allocator one of whose functions has no public name, as in browsers. Blocks from that function are
 * released by free(). */
#include "target.h"

#define BLOCKS 7

static char arena[1 << 20] __attribute__((aligned(16)));
static size_t used;

static void *take(size_t size)
{
	const size_t room = (size + 15) & ~(size_t)15;
	const size_t at = __atomic_fetch_add(&used, room, __ATOMIC_RELAXED);

	return at + room <= sizeof(arena) ? arena + at : NULL;
}

NOINLINE void *malloc(size_t size)
{
	return take(size);
}

NOINLINE void *hidden_calloc(size_t count, size_t size)
{
	return take(count * size);
}

NOINLINE void free(void *p)
{
	KEEP(p);
}

int main(void)
{
	void *blocks[BLOCKS];

	for (unsigned i = 0; i < BLOCKS; i++)
		blocks[i] = i % 2 ? hidden_calloc(2, 20001) : malloc(40001);
	for (unsigned i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	return 0;
}
