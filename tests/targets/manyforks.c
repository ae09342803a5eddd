/* manyforks CHILDREN: a process forks as many children, 8 at a time. Each allocates and exits; every fourth forks a
 * child of its own before. */
#include "target.h"
#include <sys/wait.h>

static NOINLINE void allocate(unsigned number)
{
	char *p[8];

	for (unsigned i = 0; i < 8; i++) {
		p[i] = malloc(34000 + i);
		CHECK(p[i]);
		p[i][0] = (char)number;
	}
	for (unsigned i = 0; i < 8; i++)
		free(p[i]);
}

static void await_one(unsigned *good)
{
	int status;

	CHECK(wait(&status) > 0);
	*good += WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

static void begin(unsigned number)
{
	const pid_t child = fork();

	CHECK(child >= 0);
	if (child)
		return;
	unsigned good = 0;
	const pid_t grandchild = number % 4 ? 0 : fork();

	allocate(number);
	if (number % 4 == 0 && !grandchild)
		_exit(7);
	if (grandchild)
		await_one(&good);
	_exit(!grandchild || good ? 7 : 8);
}

int main(int argc, char **argv)
{
	const unsigned children = argument(argc, argv, 1, 1000);
	unsigned good = 0, running = 0;

	gate();
	for (unsigned i = 0; i < children; i++) {
		allocate(i);
		begin(i);
		if (++running == 8) {
			await_one(&good);
			running--;
		}
	}
	while (running--)
		await_one(&good);
	gate();
	say("%u of %u children ended with status 7", good, children);
	return 0;
}
