/* A heap that is never consistent: unsettled MIB. Fills MIB of it; then one chunk has an impossible size until the gate
 * has been passed, as if a thread were inside malloc all the time. */
#include "target.h"

#define BLOCK 2000

int main(int argc, char **argv)
{
	const size_t bytes = (size_t)argument(argc, argv, 1, 300) << 20;
	size_t *last = NULL;

	for (size_t done = 0; done < bytes; done += BLOCK) {
		last = malloc(BLOCK);
		memset(last, 1, BLOCK);
	}
	volatile size_t *const size = last - 1;
	const size_t before = *size;

	*size = 3;
	gate();
	*size = before;
	free(malloc(30001));
	gate();
	return 0;
}
