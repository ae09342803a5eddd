/* What the harnesses share: the check of a property, and with FUZZ_MAIN a main() that needs no libFuzzer. */
#ifndef FT_TESTS_FUZZ_FUZZ_H
#define FT_TESTS_FUZZ_FUZZ_H

#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "this does not hold: %s\n", what);
	abort();
}

#ifdef FUZZ_MAIN
/* The inputs are the files named on the command line. */
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		size_t size;
		char *data = read_file(argv[i], 16 << 20, &size);

		if (!data) {
			perror(argv[i]);
			return 1;
		}
		LLVMFuzzerTestOneInput((unsigned char *)data, size);
		free(data);
	}
	return 0;
}
#endif

#endif
