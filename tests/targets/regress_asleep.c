/* regress_asleep: sleeps in a system call and has a handler for SIGTRAP when functrace attaches. functrace therefore
 * stops it and makes it run a system call. Then the sleeping call must continue; it must never fail with an error
 * number that is internal to the kernel. */
#include "target.h"

static void handler(int sig)
{
	(void)sig;
}

int main(void)
{
	void *p;

	signal(SIGTRAP, handler);
	expect_alloc(1, 38001, "malloc");
	expect_release(1, 38001, "free");
	errno = 0;
	gate();
	CHECK(errno < 512); /* prctl of the gate may have failed */
	p = malloc(38001);
	KEEP(p);
	free(p);
	raise(SIGTRAP);
	return 0;
}
