/* Assembles instructions of a test into an object. So a decoder can be compared with a disassembler on a machine that
 * has no programs for the tested processor. */
#ifndef FT_TESTS_UNIT_ARCH_ASSEMBLED_H
#define FT_TESTS_UNIT_ARCH_ASSEMBLED_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/util.h"

/* Runs the assembler `command` (with its options) on the input that `put` writes. Returns the folder that contains the
 * result, the file `object`; the caller removes it by assembled_remove(). NULL: this has failed, for example because
 * there is no such assembler. */
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
		printf("# %s could not be removed\n", folder);
	free(run);
	free(folder);
	return NULL;
}

static void assembled_remove(char *folder)
{
	char *const run = xasprintf("rm -r %s", folder);

	if (system(run))
		printf("# %s could not be removed\n", folder);
	free(run);
	free(folder);
}

#endif
