/* Every few milliseconds, until its standard input ends, allocates a block of 30001 bytes that is never released, and
 * one of 30002 bytes that is released. */
#include "target.h"
#include <poll.h>

__attribute__((noinline)) static void *grow_one(void)
{
	void *volatile p = malloc(30001);

	return p;
}

__attribute__((noinline)) static void pass_by(void)
{
	void *volatile p = malloc(30002);

	free(p);
}

int main(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	void *kept = NULL;

	while (!poll(&input, 1, 5)) {
		kept = grow_one();
		pass_by();
	}
	return kept == NULL;
}
