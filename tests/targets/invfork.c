/* invfork [beside]: waits in vfork() for a child that reads a byte of the standard input. The child prints "ready" and
 * its process id.
 *
 * beside: waits in waitpid(2), and the child (CLONE_VM) runs on an unused part of this process's stack. Only an array
 * on this part points to 50 blocks of 56 bytes; nothing points to 10 of 40 bytes. */
#include "target.h"
#include <sched.h>
#include <sys/wait.h>

#define KEPT  50
#define LOST  10
#define BELOW (256u << 10)

NOINLINE static void lose(void)
{
	for (unsigned i = 0; i < LOST; i++) {
		void *p = memset(malloc(40), 0x33, 40);

		KEEP(p);
	}
}

static int read_byte(void)
{
	char byte;

	say("ready");
	say("%d", (int)getpid());
	return read(STDIN_FILENO, &byte, 1) < 0;
}

static int beside(void *data)
{
	void *volatile kept[KEPT];

	(void)data;
	for (unsigned i = 0; i < KEPT; i++)
		kept[i] = memset(malloc(56), 0x11, 56);
	lose();
	wipe_stack();
	const int status = read_byte();

	KEEP(kept[0]);
	return status;
}

int main(int argc, char **argv)
{
	void *p = malloc(100);
	int status;

	(void)argv;
	KEEP(p);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	wipe_stack();
	const pid_t child = argc > 1 ? clone(beside, (char *)(((uintptr_t)&status - BELOW) & ~(uintptr_t)63),
					     CLONE_VM | SIGCHLD, NULL)
				     : vfork();

	if (child == 0)
		_exit(read_byte());
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	return status != 0;
}
