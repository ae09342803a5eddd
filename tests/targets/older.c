/* Blocks from before a trace: older COUNT [THREADS [FORK]].
 *
 * Allocates COUNT blocks of 30000 bytes and more, prints their addresses and sizes, and waits at its gate. Then it
 * releases every third, passes the one after it to realloc(), allocates COUNT more, and, with FORK, forks a child that
 * releases ten of the rest. THREADS allocate and release all the time from before the gate until after it. At the end
 * it prints the live blocks, and waits at its second gate.
 *
 *	old ADDRESS SIZE      before the gate; SIZE is that of malloc_usable_size()
 *	released ADDRESS      one of those, after the gate
 *	live ADDRESS SIZE     at the end
 */
#include "target.h"
#include <malloc.h>
#include <stdatomic.h>
#include <sys/wait.h>

#define BLOCKS_MAX  4000
#define THREADS_MAX 16
#define SLOTS       50

static void *blocks[BLOCKS_MAX], *more[BLOCKS_MAX];
static void *slots[THREADS_MAX][SLOTS], *kept[THREADS_MAX][SLOTS];
static atomic_uint is_over, ended;

static void say_block(const char *word, void *block)
{
	say("%s %p %zu", word, block, malloc_usable_size(block));
}

static size_t next_size(unsigned *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return 30000 + (*seed >> 16) % 10000;
}

/* Allocates and releases until each slot has been released after the gate. */
static void *work(void *argument)
{
	const unsigned number = (unsigned)(uintptr_t)argument;
	unsigned seed = number;

	for (unsigned turn = 0, last = 0; last < 2 * SLOTS; turn++, last += atomic_load(&is_over)) {
		void **slot = &slots[number][turn % SLOTS];

		free(*slot);
		*slot = malloc(next_size(&seed));
		if (turn % 7 == 0)
			*slot = realloc(*slot, next_size(&seed));
	}
	/* The thread does not end, because glibc would then call free() once more for the blocks in the thread's cache,
	 * also for those from before the gate. */
	atomic_fetch_add(&ended, 1);
	return sleep_for_ever(NULL);
}

static void use_old(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (i % 3 == 0) {
			say("released %p", blocks[i]);
			free(blocks[i]);
			blocks[i] = NULL;
		} else if (i % 3 == 1) {
			void *before = blocks[i];

			say("released %p", before);
			blocks[i] = realloc(before, 39000);
		}
		more[i] = malloc(31000);
	}
}

static void fork_child(unsigned count)
{
	const pid_t child = fork();
	int status;

	CHECK(child >= 0);
	for (unsigned i = 2; !child && i < count && i < 32; i += 3)
		free(blocks[i]);
	if (!child)
		_exit(0);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(int argc, char **argv)
{
	const unsigned count = argument(argc, argv, 1, 300), threads = argument(argc, argv, 2, 0);
	pthread_t id;

	CHECK(count <= BLOCKS_MAX && threads <= THREADS_MAX);
	for (unsigned i = 0; i < count; i++) {
		blocks[i] = malloc(30000 + i % 1000);
		say_block("old", blocks[i]);
	}
	for (unsigned i = 0; i < threads; i++) {
		for (unsigned k = 0; k < SLOTS; k++)
			kept[i][k] = malloc(33000 + k);
		CHECK(pthread_create(&id, NULL, work, (void *)(uintptr_t)i) == 0);
	}
	gate();
	use_old(count);
	if (argument(argc, argv, 3, 0))
		fork_child(count);
	atomic_store(&is_over, 1);
	while (atomic_load(&ended) < threads)
		sleep_ms(1);
	for (unsigned i = 0; i < count; i++) {
		if (blocks[i])
			say_block("live", blocks[i]);
		say_block("live", more[i]);
	}
	for (unsigned i = 0; i < threads * SLOTS; i++) {
		say_block("live", kept[i / SLOTS][i % SLOTS]);
		if (slots[i / SLOTS][i % SLOTS])
			say_block("live", slots[i / SLOTS][i % SLOTS]);
	}
	gate();
	return 0;
}
