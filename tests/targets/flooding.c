/* flooding PAIRS [blocked]: pairs of malloc and free as fast as possible, after the first gate; at the second gate all
 * have been made. blocked: with all signals blocked. */
#include "target.h"

int main(int argc, char **argv)
{
	const unsigned pairs = argument(argc, argv, 1, 100000);
	sigset_t all;

	sigfillset(&all);
	if (argc > 2)
		CHECK(!sigprocmask(SIG_BLOCK, &all, NULL));
	gate();
	for (unsigned i = 0; i < pairs; i++) {
		void *p = malloc(31001);

		KEEP(p);
		free(p);
	}
	gate();
	expect_alloc(pairs, 31001, "malloc");
	expect_release(pairs, 31001, "free");
	return 0;
}
