/* libdwfl maps the files that it reads, and these may be written over while it does: by a build, of a program that is
 * still running. The kernel then says so by SIGBUS, which would end the tracer. Where debug information is damaged a
 * libdw of 32 bits may read beyond all of it, which is a SIGSEGV (0.188, dwarf_getlocation_addr()). */
#include "config.h"
#include "base/util.h"
#include "symbols/mapped.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

static const int faults[] = {SIGBUS, SIGSEGV};
static sigjmp_buf before;
static struct sigaction old[ARRAY_SIZE(faults)];

static void leave(int signal)
{
	(void)signal;
	siglongjmp(before, 1);
}

static void restore(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		sigaction(faults[i], &old[i], NULL);
}

bool mapped_read(void (*read)(void *context), void *context)
{
	const struct sigaction action = {.sa_handler = leave};

	if (sigsetjmp(before, 1)) {
		restore();
		return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		sigaction(faults[i], &action, &old[i]);
	read(context);
	restore();
	return true;
}
