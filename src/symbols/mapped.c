/* libdwfl maps the files that it reads, and these may be written over while it does: by a build, of a program that is
 * still running. The kernel then says so by SIGBUS, which would end the tracer. */
#include "config.h"
#include "symbols/mapped.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

static sigjmp_buf before;
static struct sigaction old;

static void leave(int signal)
{
	(void)signal;
	siglongjmp(before, 1);
}

bool mapped_read(void (*read)(void *context), void *context)
{
	const struct sigaction action = {.sa_handler = leave};

	if (sigsetjmp(before, 1)) {
		sigaction(SIGBUS, &old, NULL);
		return false;
	}
	sigaction(SIGBUS, &action, &old);
	read(context);
	sigaction(SIGBUS, &old, NULL);
	return true;
}
