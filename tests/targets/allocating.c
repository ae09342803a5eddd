/* Threads that do nothing but allocate and release, and known lost blocks: allocating THREADS MODE. With 0 threads the
 * first thread does so itself.
 *
 * 500 blocks of 4,000 bytes and more are lost, and 20 lists of 5 blocks: the first block of each list is definitely
 * lost. A list of 100 blocks is kept. Each thread has up to 128 blocks, to which its stack points, with sizes by MODE:
 *
 *   some     up to 1 KiB
 *   realloc  the same, and realloc(3) to 4 KiB
 *   large    up to 256 KiB: some are mmapped chunks
 *   small    up to 80 bytes: the threads' caches, and fastbins
 *   aligned  by posix_memalign(3), up to 128 KiB
 *   calloc   up to 1 KiB
 *   shared   up to 1 KiB, in 128 slots of all threads: each may release blocks that another one has allocated
 *
 * Prints "ready" when all are at work, and ends with the standard input, or with 0 threads by a signal. */
#include "target.h"
#include <stdatomic.h>

#define SLOTS   128
#define THREADS 32

enum mode { SOME, REALLOC, LARGE, SMALL, ALIGNED, CALLOC, SHARED, MODES };

static const char *const names[] = {"some", "realloc", "large", "small", "aligned", "calloc", "shared"};
static const unsigned masks[] = {1023, 1023, 0x3ffff, 63, 0x1ffff, 1023, 1023};

struct node {
	struct node *next;
	long rest[5];
};

struct node *list;
static _Atomic(void *) slots[SLOTS];
static enum mode mode;
static atomic_uint ready;

static NOINLINE void plant(void)
{
	for (unsigned i = 0; i < 500; i++) {
		/* Filled with 0xee, because no word of these bytes is an address of the heap. */
		void *p = memset(malloc(4000 + i * 3), 0xee, 4000 + i * 3);

		KEEP(p);
	}
	for (unsigned i = 0; i < 20; i++) {
		struct node *first = NULL;

		for (unsigned k = 0; k < 5; k++) {
			struct node *node = calloc(1, sizeof(*node));

			node->next = first;
			first = node;
		}
		KEEP(first);
	}
	for (unsigned i = 0; i < 100; i++) {
		struct node *node = calloc(1, sizeof(*node));

		node->next = list;
		list = node;
	}
}

static void *get(size_t size)
{
	void *p = NULL;

	if (mode == ALIGNED)
		return posix_memalign(&p, (size_t)32 << size % 9, size) ? NULL : p;
	return mode == CALLOC ? calloc(1, size) : malloc(size);
}

static void *work(void *argument)
{
	/* 64 bits: a 32-bit number would look like the address of a block if the heap has low addresses. */
	uint64_t seed = (uintptr_t)argument * 7919 + 1;
	void *volatile own[SLOTS];

	memset((void *)own, 0, sizeof(own));
	atomic_fetch_add(&ready, 1);
	for (;;) {
		seed = seed * 6364136223846793005u + 12345;
		const unsigned k = seed >> 20 & (SLOTS - 1);
		const size_t size = 16 + (seed >> 28 & masks[mode]);

		if (mode == SHARED) {
			long *p = atomic_exchange(&slots[k], NULL);

			if (!p)
				*(p = malloc(size)) = 0;
			else if (seed >> 62 != 1) {
				free(p);
				continue;
			}
			free(atomic_exchange(&slots[(k + 7) % SLOTS], p));
		} else if (!own[k]) {
			long *p = get(size);

			*p = 0;
			own[k] = p;
		} else if (mode == REALLOC && seed >> 60 == 3) {
			long *p = realloc(own[k], 16 + (seed >> 28 & 4095));

			p[0] = p[1] = 0;
			own[k] = p;
		} else {
			void *p = own[k];

			own[k] = NULL;
			free(p);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	CHECK(argc == 3);
	const unsigned threads = (unsigned)atoi(argv[1]);

	while (mode < MODES && strcmp(argv[2], names[mode]) != 0)
		mode++;
	CHECK(mode < MODES && threads <= THREADS);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	wipe_stack();
	plant();
	wipe_stack();
	for (unsigned i = 0; i < threads; i++)
		CHECK(pthread_create(&thread, NULL, work, (void *)(uintptr_t)i) == 0);
	while (atomic_load(&ready) < threads)
		sleep_ms(1);
	say("ready");
	if (!threads)
		work(NULL);
	wait_for_input_end();
	return 0;
}
