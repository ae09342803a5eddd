/* Makes a heap of MIB MiB: blocks MIB [--ask]. Each block of 88 bytes points to the block that was allocated before it.
 * With --ask, the program prints "ready", and for each line of standard input "gap NS": the longest time in ns, since
 * the previous line, in which it did not run. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct node {
	struct node *before;
	char rest[80];
};

struct node *last;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void answer(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	uint64_t gap = 0, before = now(), after;
	char line[16];

	for (;;) {
		const int ready = ppoll(&input, 1, &(struct timespec){.tv_nsec = 50000}, NULL);

		after = now();
		gap = after - before > gap ? after - before : gap;
		before = after;
		if (ready <= 0)
			continue;
		if (read(STDIN_FILENO, line, sizeof(line)) <= 0)
			return;
		printf("gap %llu\n", (unsigned long long)gap);
		fflush(stdout);
		gap = 0;
	}
}

int main(int argc, char **argv)
{
	const unsigned long count = argc > 1 ? (unsigned long)((uint64_t)atoi(argv[1]) * 1048576 / 96) : 0;

	for (unsigned long i = 0; i < count; i++) {
		struct node *node = malloc(sizeof(*node));

		if (!node)
			return 1;
		memset(node->rest, 1, sizeof(node->rest));
		node->before = last;
		last = node;
	}
	if (argc > 2) {
		printf("ready\n");
		fflush(stdout);
		answer();
	}
	return 0;
}
