/* Tests descriptors that were open before the trace, ranges of closed descriptors, and descriptors that are closed
 * twice. */
#include "config.h"
#include "ledger_util.h"
#include "record/ledger.h"
#include "unit_test.h"

#include <stdlib.h>

static void shut(uint64_t id)
{
	const struct event e = event(SHUT, id, 0);

	ledger_released(trace, &e);
}

static void shut_between(uint64_t first, uint64_t last)
{
	const struct event e = event(SHUT, first, 0);

	ledger_released_between(trace, &e, last);
}

static void test_open_descriptors_count_as_older(void **state)
{
	ledger_existing(trace, 2, 0);
	ledger_existing(trace, 2, 5);
	ledger_existing(trace, 2, 5);
	assert_int_equal(ledger_live(trace, 2).blocks, 0);
	assert_int_equal(ledger_live(trace, 2).older, 2);
	shut(5);
	shut(0);
	assert_int_equal(ledger_live(trace, 2).older, 0);
	assert_int_equal(odd().unknown_releases, 0);
	assert_trace("shut<file>(0x5)\nshut<file>(0x0)\n");
	assert_notes("");
}

/* Either A: close(5), written at its entry | the list of open descriptors still has 5 | B: open() = 5. Or B: open() =
 * 5, in the kernel | the list has 5 | B's return is seen. No release was missed in either case, because a descriptor
 * from before the trace may be opened again. */
static void test_older_descriptor_may_be_opened_again(void **state)
{
	ledger_existing(trace, 2, 5);
	allocated(OPEN, 5, 1);
	assert_int_equal(odd().reused, 0);
	assert_int_equal(ledger_live(trace, 2).blocks, 1);
	assert_int_equal(ledger_live(trace, 2).older, 0);
	/* A descriptor with an event did not exist before that event. */
	ledger_existing(trace, 2, 5);
	assert_int_equal(ledger_live(trace, 2).older, 0);
	allocated(OPEN, 5, 1);
	assert_int_equal(odd().reused, 1);
}

static void test_range_closes_all_open_descriptors_in_it(void **state)
{
	for (uint64_t id = 10; id > 2; id--)
		allocated(OPEN, id, 1);
	allocated(MALLOC, 4, 7);
	shut_between(4, 4);
	shut_between(6, 8);
	shut_between(6, 8);
	shut_between(1 << 20, UINT32_MAX);
	assert_int_equal(ledger_live(trace, 2).blocks, 4);
	shut_between(0, UINT64_MAX);
	assert_int_equal(ledger_live(trace, 2).blocks, 0);
	assert_int_equal(ledger_live(trace, 1).blocks, 1);
	assert_int_equal(odd().unknown_releases, 0);
	assert_trace("open<file>(1) = 0xa\nopen<file>(1) = 0x9\nopen<file>(1) = 0x8\nopen<file>(1) = 0x7\n"
		     "open<file>(1) = 0x6\nopen<file>(1) = 0x5\nopen<file>(1) = 0x4\nopen<file>(1) = 0x3\n"
		     "malloc<memory>(7) = 0x4\nshut<file>(0x4)\nshut<file>(0x6)\nshut<file>(0x7)\nshut<file>(0x8)\n"
		     "shut<file>(0x3)\nshut<file>(0x5)\nshut<file>(0x9)\nshut<file>(0xa)\n");
}

/* A failed close is not a release. It counts as a double close only if the number was closed before. If a second close
 * succeeds, functrace has missed an open, and reports no double close. */
static void test_second_failed_close_counts_as_double(void **state)
{
	struct reservation reservation;

	allocated(OPEN, 5, 1);
	shut(5);
	reserve(&reservation, SHUT, 5);
	ledger_failed(trace, &reservation);
	assert_int_equal(odd().failed_again, 1);
	reserve(&reservation, SHUT, 6);
	ledger_failed(trace, &reservation);
	assert_int_equal(odd().failed_again, 1);
	reserve(&reservation, SHUT, 5);
	ledger_commit(trace, &reservation, TIME_NONE);
	assert_int_equal(odd().failed_again, 1);
	assert_int_equal(odd().repeated, 0);
	assert_int_equal(odd().unknown_releases, 1);
	assert_trace("open<file>(1) = 0x5\nshut<file>(0x5)\nshut<file>(0x5)\n");
	assert_notes("shut releases 0x5, whose allocation was not seen\n");
}

/* A: close_range(3, 5) enters, and reserves 3, 4 and 5 | B: open() = 3, so A has closed 3 | B: close(4) | A returns. In
 * the first round A has closed 5, too; in the second round A has failed, so no release of 5 is written. */
static void test_events_of_other_threads_split_a_range(void **state)
{
	for (unsigned round = 0; round < 2; round++) {
		struct reservation range[3];
		size_t count;

		for (uint64_t id = round ? 4 : 3; id <= (round ? 4 : 5); id++)
			allocated(OPEN, id, 1);
		uint64_t *const ids = ledger_ids_between(trace, 2, 3, 5, &count);

		assert_int_equal(count, round ? 2 : 3);
		free(ids);
		for (uint64_t id = 3; id <= 5; id++)
			reserve(&range[id - 3], CLOSE, id);
		allocated(OPEN, 3, 1);
		assert_false(range[0].is_open);
		ledger_withdraw(trace, &range[1]);
		struct event e = event(CLOSE, 4, 0);

		ledger_released(trace, &e);
		if (round)
			ledger_withdraw(trace, &range[2]);
		else
			ledger_commit(trace, &range[2], TIME_NONE);
	}
	assert_trace("open<file>(1) = 0x3\nopen<file>(1) = 0x4\nopen<file>(1) = 0x5\nclose<file>(0x3)\n"
		     "open<file>(1) = 0x3\nclose<file>(0x4)\nclose<file>(0x5)\nopen<file>(1) = 0x4\n"
		     "close<file>(0x3)\nopen<file>(1) = 0x3\nclose<file>(0x4)\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_open_descriptors_count_as_older, ledger_setup, ledger_teardown),
		cmocka_unit_test_setup_teardown(test_older_descriptor_may_be_opened_again, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_range_closes_all_open_descriptors_in_it, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_second_failed_close_counts_as_double, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_events_of_other_threads_split_a_range, ledger_setup,
						ledger_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
