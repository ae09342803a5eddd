#include "config.h"
#include "heap_allocators.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define THREADS_MAX 8
#define SLOTS       400
#define SHARED      200
#define ROUNDS      6000

struct slot {
	void *block;
	bool is_aligned;
};

static struct slot slots[THREADS_MAX + 1][SLOTS];
static _Atomic(void *) shared[SHARED];
static pthread_barrier_t barrier;
static atomic_uint at_rest; /* number of threads that wait and will not end */
static unsigned thread_count, first_seed;

static uint64_t draw(uint64_t *seed, uint64_t below)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (*seed >> 33) % below;
}

/* Returns a random size, mostly a small one, at most 40 MB. */
static size_t size_of(uint64_t *seed)
{
	const uint64_t kind = draw(seed, 1000);

	return kind < 900   ? 1 + draw(seed, 2000)
	       : kind < 980 ? 1 + draw(seed, 70000)
	       : kind < 998 ? 1 + draw(seed, 2000000)
			    : 1 + draw(seed, 40000000);
}

static void fill(struct slot *slot, uint64_t *seed)
{
	const size_t size = size_of(seed), align = (size_t)32 << draw(seed, draw(seed, 50) ? 9 : 21);
	const uint64_t how = draw(seed, 8);

	slot->is_aligned = how == 1 || how == 2 || how == 3;
	if (how == 0)
		slot->block = calloc(1, size);
	else if (how == 1 && posix_memalign(&slot->block, align, size))
		slot->block = NULL;
	else if (how == 2)
		slot->block = aligned_alloc(align, size);
	else if (how == 3)
		slot->block = memalign(align, size);
	else if (how == 4)
		slot->block = realloc(malloc(size), size_of(seed));
	else if (how > 4)
		slot->block = malloc(size);
	if (slot->block)
		memset(slot->block, 0x55, size < 64 && how != 4 ? size : 1);
}

static void work(unsigned number)
{
	uint64_t seed = first_seed * 1000u + number;

	for (unsigned round = 0; round < ROUNDS; round++) {
		struct slot *slot = &slots[number][draw(&seed, SLOTS)];

		if (draw(&seed, 4) == 0 && !slot->is_aligned)
			slot->block = atomic_exchange(&shared[draw(&seed, SHARED)], slot->block);
		if (slot->block && draw(&seed, 8) == 0 && !slot->is_aligned)
			slot->block = realloc(slot->block, size_of(&seed));
		else if (slot->block && draw(&seed, 4))
			free(slot->block), slot->block = NULL, slot->is_aligned = false;
		else if (!slot->block)
			fill(slot, &seed);
	}
}

static void *run(void *argument)
{
	const unsigned number = (unsigned)(uintptr_t)argument;

	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	work(number);
	if (number % 2)
		return NULL;
	atomic_fetch_add(&at_rest, 1);
	pause();
	return NULL;
}

/* Prints a line without calling functions that allocate. */
static void print_line(const char *line, size_t size)
{
	if (write(STDOUT_FILENO, line, size) != (ssize_t)size)
		_exit(1);
}

static void print_block(void *block, bool is_aligned)
{
	char line[80];

	if (block)
		print_line(line, (size_t)snprintf(line, sizeof(line), "%" PRIxPTR " %zu %d\n", (uintptr_t)block,
						  malloc_usable_size(block), is_aligned));
}

/* ---- The allocator's own figures ---- */

/* The beginning of mimalloc's mi_heap_area_t: address, bytes reserved and committed, blocks in use, bytes of each
 * block. */
struct area {
	void *blocks;
	size_t reserved, committed, used, block_size;
};

typedef bool (*visitor)(const void *heap, const struct area *area, void *block, size_t size, void *sum);

static bool add_area(const void *heap, const struct area *area, void *block, size_t size, void *sum)
{
	(void)heap, (void)block, (void)size;
	*(uint64_t *)sum += area->used * area->block_size;
	return true;
}

static bool own_figure(uint64_t *sum)
{
	int (*const control)(const char *, void *, size_t *, void *, size_t) = dlsym(RTLD_DEFAULT, "mallctl");
	void *(*const default_heap)(void) = dlsym(RTLD_DEFAULT, "mi_heap_get_default");
	bool (*const visit)(const void *, bool, visitor, void *) = dlsym(RTLD_DEFAULT, "mi_heap_visit_blocks");
	uint64_t epoch = 1;
	size_t size = sizeof(*sum);

	*sum = 0;
	if (control)
		return !control("epoch", NULL, NULL, &epoch, sizeof(epoch)) &&
		       !control("stats.allocated", sum, &size, NULL, 0);
	return default_heap && visit && visit(default_heap(), false, add_area, sum);
}

int allocate(unsigned threads, unsigned seed)
{
	static pthread_t ids[THREADS_MAX + 1];
	char line[80], byte;
	uint64_t figure;
	pthread_attr_t attributes;

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	thread_count = threads < THREADS_MAX ? threads : THREADS_MAX;
	first_seed = seed;
	free(malloc(1));
	if (!own_figure(&figure))
		return 1;
	pthread_barrier_init(&barrier, NULL, thread_count + 1);
	pthread_attr_init(&attributes);
	/* The stacks are so small that the C library keeps those of ended threads, with their thread data. */
	pthread_attr_setstacksize(&attributes, 256 << 10);
	for (uintptr_t i = 1; i <= thread_count; i++)
		if (pthread_create(&ids[i], &attributes, run, (void *)i))
			return 1;
	pthread_barrier_wait(&barrier);
	print_line("base\n", 5);
	if (read(STDIN_FILENO, &byte, 1) != 1)
		return 1;
	pthread_barrier_wait(&barrier);
	work(0);
	for (unsigned i = 1; i <= thread_count; i += 2)
		pthread_join(ids[i], NULL);
	while (atomic_load(&at_rest) < thread_count / 2)
		usleep(1000);
	for (unsigned i = 0; i <= thread_count; i++)
		for (unsigned k = 0; k < SLOTS; k++)
			print_block(slots[i][k].block, slots[i][k].is_aligned);
	for (unsigned i = 0; i < SHARED; i++)
		print_block(shared[i], false);
	own_figure(&figure);
	print_line(line, (size_t)snprintf(line, sizeof(line), "end %" PRIu64 "\n", figure));
	for (;;)
		pause();
}
