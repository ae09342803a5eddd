/* Assembles instructions of a test into an object, for a disassembler to read on a machine without programs of that
 * processor. */
#ifndef FT_TESTS_UNIT_ARCH_ASSEMBLED_H
#define FT_TESTS_UNIT_ARCH_ASSEMBLED_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/util.h"

/* Returns the folder of the object, whose name is `object` in it; NULL if it could not be made because there is no such
 * assembler. `command` is the assembler with its options; `put` writes its input. The caller ends it by
 * assembled_remove(). */
static char *assembled_make(const char *command, void (*put)(FILE *out))
{
	char *const folder = xstrdup("/tmp/functrace-assembled.XXXXXX");
	char *run;
	FILE *out;

	if (!mkdtemp(folder)) {
		free(folder);
		return NULL;
	}
	signal(SIGPIPE, SIG_IGN); /* if there is no assembler, the pipe has no reader */
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
