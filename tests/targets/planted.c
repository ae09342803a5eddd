/* A heap with known lost blocks: planted THREADS LOST [LINKED].
 *
 * Each thread allocates its share of LOST blocks of 56 bytes and forgets them, and LINKED times as many of 40 bytes to
 * which only the lost ones point; it keeps a list of 1000 blocks of 72 bytes, one block of 104 bytes by a pointer to
 * its second half, and one of 88 bytes by a pointer on its stack. Then all threads wait, the odd ones busily. Prints a
 * line when all wait, and ends with the standard input. If words have 4 bytes, each block has 4 more: glibc's sizes
 * are a number of words, less one. */
#include "target.h"
#include <stdatomic.h>

#define THREADS_MAX 16
#define KEPT        1000
#define BYTES(n)    ((n) + 8 - sizeof(void *))

struct node {
	struct node *next;
	unsigned char rest[BYTES(72) - sizeof(struct node *)];
};

struct node *lists[THREADS_MAX];
unsigned char *halves[THREADS_MAX];
static unsigned threads, lost, linked;
static atomic_uint ready;

NOINLINE static void plant(unsigned number)
{
	for (unsigned i = number; i < lost; i += threads) {
		void **block = malloc(BYTES(56));

		memset(block, 0x11, BYTES(56));
		for (unsigned k = 0; k < linked; k++) {
			void **more = malloc(BYTES(40));

			memset(more, 0x22, BYTES(40));
			block[k] = more;
			KEEP(more);
		}
		KEEP(block);
	}
}

NOINLINE static void keep(unsigned number)
{
	for (unsigned i = 0; i < KEPT; i++) {
		struct node *node = malloc(sizeof(*node));

		memset(node, 0x33, sizeof(*node));
		node->next = lists[number];
		lists[number] = node;
	}
	halves[number] = (unsigned char *)memset(malloc(BYTES(104)), 0x44, BYTES(104)) + 48;
}

static void *work(void *argument)
{
	const unsigned number = (unsigned)(uintptr_t)argument;
	void *volatile own = malloc(BYTES(88));

	plant(number);
	keep(number);
	wipe_stack();
	atomic_fetch_add(&ready, 1);
	for (unsigned long round = 0;; round++)
		if (number % 2 == 0 || !own)
			pause();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	CHECK(argc >= 3);
	threads = (unsigned)atoi(argv[1]);
	lost = (unsigned)atoi(argv[2]);
	linked = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
	CHECK(threads >= 1 && threads <= THREADS_MAX && linked <= 7);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	for (unsigned i = 0; i < threads; i++)
		CHECK(pthread_create(&thread, NULL, work, (void *)(uintptr_t)i) == 0);
	while (atomic_load(&ready) < threads)
		sleep_ms(1);
	say("ready");
	wait_for_input_end();
	return 0;
}
