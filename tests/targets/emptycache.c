/* A block of zeros, about as large as the structure of a thread's cache. A second thread has released the block into
 * its own cache, and the thread's stack still contains the block's address. The block is at a lower address than the
 * structure of that cache. The program waits for the end of its standard input. */
#include "target.h"

static int released[2];

static void *release_and_wait(void *block)
{
	void *volatile large = block;
	void *volatile small = malloc(20);
	char byte = 'r';

	free(large);
	free(small);
	CHECK(write(released[1], &byte, 1) == 1);
	pause();
	return NULL;
}

int main(void)
{
	pthread_t thread;
	/* `large` is as large as the structure of a thread's cache in glibc 2.42. */
	void *large = calloc(1, 750), *other = malloc(30);
	char byte;

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	KEEP(other);
	CHECK(pipe(released) == 0);
	CHECK(pthread_create(&thread, NULL, release_and_wait, large) == 0);
	CHECK(read(released[0], &byte, 1) == 1);
	say("ready");
	wait_for_input_end();
	return 0;
}
