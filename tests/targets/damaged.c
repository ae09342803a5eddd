/* damaged KIND: the program damages its own heap, in the structures of glibc's malloc. Some kinds damage nothing, for
 * comparison. Prints a line when it is done, and ends with the standard input, without another call of malloc. */
#include "target.h"
#include <stdbool.h>
#include <sys/mman.h>

#define WORD  sizeof(void *)
#define BINS  127
#define MANY  40
#define SMALL 56     /* a released block of this size goes into a cache, after 7 of them into a fastbin */
#define MORE  600    /* a released block of this size goes into a cache, after 7 of them into a bin */
#define LARGE 3000   /* for a bin */
#define HUGE  300000 /* in a mapping of its own */

static void *blocks[MANY];
static volatile uintptr_t *first_bin; /* the header of the unsorted list in the main arena */
static uintptr_t to_next;             /* from the beginning of an arena to its pointer to the next one */
static pthread_barrier_t barrier;

/* Returns the address of word `index` of a block. -1 is the size in the chunk's header, and -2 the size of the chunk
 * before. The words are volatile, so that the compiler keeps the writes of words that this file never reads. */
static volatile uintptr_t *word(void *block, int index)
{
	return (volatile uintptr_t *)block + index;
}

/* Returns the address of word `index` of the chunk after a block's chunk. Word 0 is the first word of that chunk's
 * header. */
static volatile uintptr_t *behind(void *block, int index)
{
	return word(block, -2) + (*word(block, -1) & ~(uintptr_t)7) / WORD + index;
}

/* Allocates MANY blocks, with another one before each, so that they do not coalesce; releases the first `released` of
 * them. */
static void fill(size_t size, unsigned released)
{
	for (unsigned i = 0; i < MANY; i++) {
		void *volatile between = calloc(1, 48);

		blocks[i] = malloc(size);
		CHECK(blocks[i] && between);
	}
	for (unsigned i = 0; i < released; i++)
		free(blocks[i]);
}

static void find_arena(void)
{
	void *block = malloc(LARGE), *volatile between = malloc(48);

	CHECK(block && between);
	free(block);
	first_bin = (volatile uintptr_t *)*word(block, 0);
	CHECK(first_bin[2] == (uintptr_t)word(block, -2));
	/* first_bin is two words before the bins, each of which is two words. After the bins are their map, of 16
	 * bytes, and the pointer to the next arena. That is the main arena itself, because there is no other. */
	volatile uintptr_t *next = first_bin + 2 + (size_t)BINS * 2 + 16 / WORD;

	to_next = (uintptr_t)next - *next;
	/* Allocates the block again, so that no later block is a part of it. */
	CHECK(malloc(LARGE) == block);
}

static volatile uintptr_t *next_arena(volatile uintptr_t *arena)
{
	return (volatile uintptr_t *)((uintptr_t)arena + to_next);
}

static volatile uintptr_t *main_arena(void)
{
	return (volatile uintptr_t *)((uintptr_t)(first_bin + 2 + (size_t)BINS * 2 + 16 / WORD) - to_next);
}

static void overwrite(void *block)
{
	*word(block, 0) = *word(block, 1) = (uintptr_t)0x4141414141414141;
}

/* ---- Chunks ---- */

static void none(void)
{
	fill(SMALL, 20);
}

/* Damages nothing. Makes memory that looks like mmapped chunks. The last of these false chunks would also contain the
 * real chunks after the mapping. No pointer points to the false chunks, or to one real chunk, the former blocks[5]. */
static void lookalikes(void)
{
	const size_t size = 4 << 20;

	fill(HUGE, 0);
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED);
	for (unsigned i = 0; i < 9; i++)
		*word(memory + i * 200 * 1024, 1) = 0x30002;
	*word(memory + size - 4096, 1) = 0xa0002;
	blocks[5] = NULL;
}

static void large_size(void)
{
	fill(LARGE, 0);
	*word(blocks[3], -1) = 0x12345671;
}

static void small_size(void)
{
	fill(LARGE, 0);
	*word(blocks[3], -1) = 9;
}

static void longer_size(void)
{
	fill(LARGE, 0);
	*word(blocks[3], -1) += 4 * WORD;
}

static void foot(void)
{
	fill(LARGE, 20);
	*behind(blocks[3], 0) += 4 * WORD;
}

static void topmost(void)
{
	void *newest = malloc(60000);

	CHECK(newest);
	*behind(newest, 1) = UINTPTR_MAX & ~(uintptr_t)6;
}

static void topmost_less(void)
{
	void *newest = malloc(60000);

	CHECK(newest);
	*behind(newest, 1) -= 4096;
}

static void mapped(void)
{
	fill(HUGE, 0);
	*word(blocks[3], -1) += 4096;
}

/* ---- Lists ---- */

/* Stores in a block of a cache or fastbin the pointer to the next block, which is mangled by the address of the block
 * (since glibc 2.32). */
static void link_to(void *block, void *next)
{
	*word(block, 0) = ((uintptr_t)block >> 12) ^ (uintptr_t)next;
}

static void cycle_in_cache(void)
{
	fill(SMALL, 7);
	link_to(blocks[4], blocks[6]);
}

static void overwritten_in_cache(void)
{
	fill(SMALL, 7);
	overwrite(blocks[5]);
}

static void cut_cache(void)
{
	fill(SMALL, 7);
	link_to(blocks[5], NULL);
}

static void cycle_in_fastbin(void)
{
	fill(SMALL, 20);
	link_to(blocks[10], (void *)word(blocks[12], -2));
}

static void overwritten_in_fastbin(void)
{
	fill(SMALL, 20);
	overwrite(blocks[10]);
}

static void cycle_of_unsorted(void)
{
	fill(LARGE, 20);
	*word(blocks[10], 0) = (uintptr_t)word(blocks[12], -2);
}

static void sort(void)
{
	void *volatile larger = malloc(20 * LARGE);

	CHECK(larger);
}

static void cycle_in_small_bin(void)
{
	fill(MORE, 20);
	sort();
	*word(blocks[10], 0) = (uintptr_t)word(blocks[10], -2);
}

static void overwritten_in_large_bin(void)
{
	fill(LARGE, 20);
	sort();
	overwrite(blocks[10]);
}

static void overwritten_bin(void)
{
	fill(LARGE, 20);
	first_bin[2] = 0x41414141;
}

/* ---- Arenas ---- */

static void *wait_there(void *unused)
{
	void *volatile own = malloc(100);

	(void)unused;
	pthread_barrier_wait(&barrier);
	for (;;)
		pause();
	return own;
}

static void *damage_own_cache(void *unused)
{
	cycle_in_cache();
	return wait_there(unused);
}

static void start(void *(*work)(void *))
{
	pthread_t thread;

	CHECK(!pthread_barrier_init(&barrier, NULL, 2));
	CHECK(!pthread_create(&thread, NULL, work, NULL));
	pthread_barrier_wait(&barrier);
	CHECK(*next_arena(main_arena()) != (uintptr_t)main_arena());
}

static void thread_cache(void)
{
	void *volatile cached = malloc(200);

	free(cached);
	start(damage_own_cache);
}

static void ring(void)
{
	*next_arena(main_arena()) = (uintptr_t)blocks;
}

static void ring_in_ring(void)
{
	start(wait_there);
	volatile uintptr_t *other = (volatile uintptr_t *)*next_arena(main_arena());

	*next_arena(other) = (uintptr_t)other;
}

/* In a thread's arena each heap begins with {arena, the heap before it}. */
static void cycle_of_heaps(void)
{
	start(wait_there);
	volatile uintptr_t *heap = (volatile uintptr_t *)(*next_arena(main_arena()) & ~(uintptr_t)4095);

	CHECK(heap[1] == 0);
	heap[1] = (uintptr_t)heap;
}

static const struct {
	const char *name;
	void (*damage)(void);
} kinds[] = {
	{"none", none},
	{"lookalikes", lookalikes},
	{"large-size", large_size},
	{"small-size", small_size},
	{"longer-size", longer_size},
	{"foot", foot},
	{"topmost", topmost},
	{"topmost-less", topmost_less},
	{"mapped", mapped},
	{"cycle-in-cache", cycle_in_cache},
	{"overwritten-in-cache", overwritten_in_cache},
	{"cut-cache", cut_cache},
	{"thread-cache", thread_cache},
	{"cycle-in-fastbin", cycle_in_fastbin},
	{"overwritten-in-fastbin", overwritten_in_fastbin},
	{"cycle-of-unsorted", cycle_of_unsorted},
	{"cycle-in-small-bin", cycle_in_small_bin},
	{"overwritten-in-large-bin", overwritten_in_large_bin},
	{"overwritten-bin", overwritten_bin},
	{"ring", ring},
	{"ring-in-ring", ring_in_ring},
	{"cycle-of-heaps", cycle_of_heaps},
};

int main(int argc, char **argv)
{
	bool is_done = false;
	char byte;

	CHECK(argc == 2);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	/* The kind lookalikes is also tested with memory tags. Then find_arena() must not read memory around a
	 * block. */
	if (strcmp(argv[1], "lookalikes"))
		find_arena();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(argv[1], kinds[i].name)) {
			kinds[i].damage();
			is_done = true;
		}
	CHECK(is_done);
	say("ready");
	while (read(STDIN_FILENO, &byte, 1) > 0 || errno == EINTR)
		;
	_exit(0);
}
