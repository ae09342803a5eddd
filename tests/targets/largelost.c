/* largelost: a lost block of 3 GiB, which is not touched, and to which no pointer points. Prints a line when it is
 * ready, and ends with its standard input. */
#include "target.h"

static NOINLINE void lose(void)
{
	void *volatile p = malloc((size_t)3 << 30);

	CHECK(p);
	p = NULL;
}

int main(void)
{
	static void *volatile kept;

	kept = malloc(100);
	CHECK(kept);
	lose();
	wipe_stack();
	say("ready");
	wait_for_input_end();
	return 0;
}
