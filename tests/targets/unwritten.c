/* Blocks of which the program has written only the first 16 bytes: unwritten THREADS [end].
 *
 * Each thread allocates and releases blocks of 24 to 2,000 bytes; in one of 16 cases it forgets a block instead of
 * releasing it. The rest of the blocks still has old words of malloc's lists, which point to the ends of blocks. Prints
 * "ready", and the numbers of lost and kept blocks; ends with the standard input, with "end" at once. */
#include "target.h"
#include <stdatomic.h>

#define THREADS 16
#define SLOTS   256
#define ROUNDS  20000

void *kept[THREADS][SLOTS];
static atomic_uint lost, alive, done;

static void *work(void *argument)
{
	const unsigned number = (unsigned)(uintptr_t)argument;
	unsigned seed = number * 7919 + 1;

	for (unsigned i = 0; i < ROUNDS; i++) {
		seed = seed * 1103515245 + 12345;
		const unsigned k = seed >> 8 & (SLOTS - 1);

		if (!kept[number][k]) {
			kept[number][k] = memset(malloc(24 + (seed >> 16) % 1977), 0, 16);
		} else {
			if ((seed >> 26) % 16)
				free(kept[number][k]);
			else
				atomic_fetch_add(&lost, 1);
			kept[number][k] = NULL;
		}
	}
	for (unsigned k = 0; k < SLOTS; k++)
		alive += kept[number][k] != NULL;
	wipe_stack();
	atomic_fetch_add(&done, 1);
	for (;;)
		pause();
	return argument;
}

int main(int argc, char **argv)
{
	const unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
	pthread_t thread;

	CHECK(threads >= 1 && threads <= THREADS);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	for (unsigned i = 0; i < threads; i++)
		CHECK(pthread_create(&thread, NULL, work, (void *)(uintptr_t)i) == 0);
	while (atomic_load(&done) < threads)
		sleep_ms(1);
	say("ready");
	say("%u %u", lost, alive);
	if (argc > 2)
		exit(0);
	wait_for_input_end();
	return 0;
}
