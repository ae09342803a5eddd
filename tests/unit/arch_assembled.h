/* An object of instructions that a test makes up, for a disassembler to read where no program of that processor is. */
#ifndef FT_TESTS_UNIT_ARCH_ASSEMBLED_H
#define FT_TESTS_UNIT_ARCH_ASSEMBLED_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/util.h"

/* The folder of the object, whose name is `object` in it; NULL where it could not be made: there is no such assembler.
 * `command`: the assembler with its options; `put` writes what it reads. To be ended by assembled_remove(). */
static char *assembled_make(const char *command, void (*put)(FILE *out))
{
	char *const folder = xstrdup("/tmp/functrace-assembled.XXXXXX");
	char *run;
	FILE *out;

	if (!mkdtemp(folder)) {
		free(folder);
		return NULL;
	}
	signal(SIGPIPE, SIG_IGN); /* where there is none, nobody reads */
	run = xasprintf("%s -o %s/object - 2>%s/errors", command, folder, folder);
	out = popen(run, "w");
	free(run);
	if (out) {
		put(out);
		if (!pclose(out))
			return folder;
	}
	run = xasprintf("sed 's/^/# /' %s/errors | head; rm -r %s", folder, folder);
	if (system(run))
		printf("# %s is left behind\n", folder);
	free(run);
	free(folder);
	return NULL;
}

static void assembled_remove(char *folder)
{
	char *const run = xasprintf("rm -r %s", folder);

	if (system(run))
		printf("# %s is left behind\n", folder);
	free(run);
	free(folder);
}

#endif
