/* Tests that the code between exec_lock_watch(look) and exec_lock_unwatch() makes progress, even if each call of look()
 * takes longer than the interval between the calls. */
#include "config.h"
#include "base/util.h"
#include "ptrace/exec_lock.h"
#include "unit_test.h"

#include <time.h>

static volatile unsigned looks;

/* Takes longer than the interval at which it is called, as with thousands of threads. */
static void look_slowly(void)
{
	const uint64_t end = clock_ns(CLOCK_MONOTONIC) + 7000000;

	while (clock_ns(CLOCK_MONOTONIC) < end)
		;
	looks++;
}

static void test_watched_code_goes_on_between_long_looks(void **state)
{
	unsigned turns = 0;

	exec_lock_watch(look_slowly);
	/* If the code were interrupted again at once, it would do only a turn or two between two looks, and 2000 looks
	 * would come first, even on a busy machine. */
	while (turns < 200000 && looks < 2000)
		turns += clock_ns(CLOCK_MONOTONIC) != 0;
	exec_lock_unwatch();
	assert_int_equal(turns, 200000);
	const unsigned before = looks;

	nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
	assert_int_equal(looks, before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_watched_code_goes_on_between_long_looks)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
