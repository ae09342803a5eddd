/* regress_asleep: attached to while it sleeps in a system call and has a handler for SIGTRAP, for which it is stopped
 * and made to do a system call. The sleeping call goes on; it never fails with a number that is the kernel's
 * own. */
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
