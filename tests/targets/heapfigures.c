/* The figures of mallinfo2(3) at the end: heapfigures [THREADS].
 *
 * Each thread allocates and releases blocks of many sizes, so that bins, fastbins and caches contain some, and keeps
 * some; a block of 1 MB is an mmapped chunk. Then the first thread prints the ten figures without allocating, while the
 * others wait; chunks in caches count as in use. */
#include "target.h"
#include <malloc.h>
#include <stdatomic.h>

#define BLOCKS 400

static atomic_uint ready;
static void *kept[17][BLOCKS];

static void *work(void *argument)
{
	void **blocks = kept[(uintptr_t)argument];

	for (unsigned i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(1 + i * 37 % 3000);
	for (unsigned i = 0; i < BLOCKS; i += 3) {
		free(blocks[i]);
		blocks[i] = NULL;
	}
	blocks[0] = malloc(1 << 20);
	atomic_fetch_add(&ready, 1);
	while (argument)
		pause();
	return NULL;
}

int main(int argc, char **argv)
{
	const unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
	pthread_t thread;

	for (uintptr_t i = 1; i <= threads && i < 17; i++)
		CHECK(pthread_create(&thread, NULL, work, (void *)i) == 0);
	while (atomic_load(&ready) < threads)
		sleep_ms(1);
	work(NULL);
	const struct mallinfo2 m = mallinfo2();

	say("%zu %zu %zu %zu %zu %zu %zu %zu %zu %zu", m.arena, m.ordblks, m.smblks, m.hblks, m.hblkhd, m.usmblks,
	    m.fsmblks, m.uordblks, m.fordblks, m.keepcost);
	_exit(0);
}
