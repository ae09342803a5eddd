/* Tests the remainders of ranges after any part of a range was released or replaced by a new range. */
#include "config.h"
#include "ledger_util.h"
#include "record/ledger.h"
#include "unit_test.h"

#define PAGES(n) ((uint64_t)(n)*0x1000)

/* Returns an event that releases `pages` pages from a page on. */
static struct event unmapping(int function, uint64_t page, uint64_t pages)
{
	struct event e = event(function, PAGES(page), 0);

	e.extent = PAGES(pages);
	return e;
}

static void unmap(int function, uint64_t page, uint64_t pages)
{
	const struct event e = unmapping(function, page, pages);

	ledger_released(trace, &e);
}

static void assert_live(uint32_t resource, uint64_t ranges, uint64_t pages)
{
	assert_int_equal(ledger_live(trace, resource).blocks, ranges);
	assert_int_equal(ledger_live(trace, resource).bytes, PAGES(pages));
}

static void test_whole_range_is_released(void **state)
{
	allocated(MAP, PAGES(16), PAGES(4));
	unmap(UNMAP, 16, 4);
	assert_live(5, 0, 0);
	/* Sizes that are not whole pages: the kernel rounds them. */
	allocated(MAP, PAGES(16), 100);
	const struct event e = {.function = event(UNMAP, 0, 0).function,
				.id = PAGES(16),
				.extent = 1,
				.time_ns = event(UNMAP, 0, 0).time_ns};

	ledger_released(trace, &e);
	assert_live(5, 0, 0);
	assert_trace("map<map>(16384) = 0x10000\nunmap<map>(0x10000)\nmap<map>(100) = 0x10000\nunmap<map>(0x10000)\n");
}

static void test_release_in_the_middle_leaves_two_ranges(void **state)
{
	allocated(MAP, PAGES(16), PAGES(10));
	unmap(UNMAP, 18, 3);
	assert_live(5, 2, 7);
	assert_true(ledger_covers(trace, 5, PAGES(17)));
	assert_false(ledger_covers(trace, 5, PAGES(18)));
	assert_false(ledger_covers(trace, 5, PAGES(21) - 1));
	assert_true(ledger_covers(trace, 5, PAGES(21)));
	assert_false(ledger_covers(trace, 5, PAGES(26)));
	/* Releases both remainders at once, with the hole between them. */
	unmap(UNMAP, 16, 10);
	assert_live(5, 0, 0);
	assert_int_equal(odd().unknown_releases, 0);
	assert_trace("map<map>(40960) = 0x10000\nunmap<map>(0x10000)\nunmap<map>(8192) = 0x10000\n"
		     "unmap<map>(20480) = 0x15000\nunmap<map>(0x10000)\nunmap<map>(0x15000)\n");
}

static void test_releases_at_the_ends_shorten_the_range(void **state)
{
	allocated(MAP, PAGES(16), PAGES(10));
	unmap(UNMAP, 16, 2);
	assert_live(5, 1, 8);
	unmap(UNMAP, 24, 2);
	assert_live(5, 1, 6);
	/* Releases from before the range to its middle, and from there to beyond its end. */
	unmap(UNMAP, 10, 10);
	assert_live(5, 1, 4);
	unmap(UNMAP, 22, 100);
	assert_live(5, 1, 2);
	assert_int_equal(ledger_size(trace, 5, PAGES(20)), PAGES(2));
	assert_int_equal(odd().unknown_releases, 0);
}

/* One call concerns several ranges of both kinds. Each row releases only ranges of its own kind. */
static void test_release_over_several_ranges_affects_its_kind(void **state)
{
	allocated(MAP, PAGES(16), PAGES(2));
	allocated(SHARE, PAGES(18), PAGES(2));
	allocated(MAP, PAGES(20), PAGES(2));
	unmap(UNMAP, 17, 4);
	assert_live(5, 2, 2);
	assert_live(6, 1, 2);
	unmap(UNSHARE, 17, 4);
	assert_live(6, 0, 0);
	assert_trace("map<map>(8192) = 0x10000\nshare<shared>(8192) = 0x12000\nmap<map>(8192) = 0x14000\n"
		     "unmap<map>(0x10000)\nunmap<map>(4096) = 0x10000\nunmap<map>(0x14000)\n"
		     "unmap<map>(4096) = 0x15000\nunshare<shared>(0x12000)\n");
}

static void test_releases_are_compared_with_live_ranges(void **state)
{
	struct event e = unmapping(UNMAP, 17, 1);

	assert_false(ledger_holds(trace, &e));
	allocated(MAP, PAGES(16), PAGES(4));
	assert_true(ledger_holds(trace, &e));
	assert_true(ledger_leaves_rest(trace, &e));
	e = unmapping(UNMAP, 16, 4);
	assert_false(ledger_leaves_rest(trace, &e));
	e = unmapping(UNMAP, 15, 9);
	assert_false(ledger_leaves_rest(trace, &e));
	e = unmapping(UNMAP, 15, 2);
	assert_true(ledger_leaves_rest(trace, &e));
	e = unmapping(UNMAP, 20, 2);
	assert_false(ledger_holds(trace, &e));
	/* The most hostile range extends beyond the end of the address space. */
	e = unmapping(UNMAP, 16, 0);
	e.extent = UINT64_MAX;
	assert_true(ledger_holds(trace, &e));
	ledger_released(trace, &e);
	assert_live(5, 0, 0);
}

/* mremap: the old range ends, the new one begins, at the same place or another one. */
static void test_moved_range_ends_and_begins_again(void **state)
{
	struct reservation move;
	const struct event grows = unmapping(REMAP, 16, 2), shrinks = unmapping(REMAP, 16, 4),
			   part = unmapping(REMAP, 33, 2);

	allocated(MAP, PAGES(16), PAGES(2));
	ledger_reserve(trace, &move, &grows, NULL);
	ledger_commit(trace, &move, TIME_NONE);
	allocated(REMAP, PAGES(16), PAGES(4));
	assert_live(5, 1, 4);
	ledger_reserve(trace, &move, &shrinks, NULL);
	ledger_commit(trace, &move, TIME_NONE);
	allocated(REMAP, PAGES(32), PAGES(5));
	assert_live(5, 1, 5);
	/* Moves the middle of the range. */
	ledger_reserve(trace, &move, &part, NULL);
	ledger_commit(trace, &move, TIME_NONE);
	allocated(REMAP, PAGES(64), PAGES(2));
	assert_live(5, 3, 5);
	/* And a call that fails. */
	ledger_reserve(trace, &move, &part, NULL);
	ledger_withdraw(trace, &move);
	assert_live(5, 3, 5);
	assert_int_equal(odd().reused, 0);
	assert_trace("map<map>(8192) = 0x10000\nremap<map>(0x10000)\nremap<map>(16384) = 0x10000\n"
		     "remap<map>(0x10000)\nremap<map>(20480) = 0x20000\nremap<map>(0x20000)\n"
		     "remap<map>(4096) = 0x20000\nremap<map>(8192) = 0x23000\nremap<map>(8192) = 0x40000\n");
}

/* A: munmap(16 pages) is done | B: mmap gets some of these | A returns. */
static void test_mmap_during_munmap_proves_the_release(void **state)
{
	const struct event e = unmapping(UNMAP, 16, 16);
	struct reservation a;

	allocated(MAP, PAGES(16), PAGES(16));
	ledger_reserve(trace, &a, &e, NULL);
	allocated(MAP, PAGES(20), PAGES(2));
	assert_false(a.is_open);
	ledger_commit(trace, &a, TIME_NONE);
	assert_live(5, 1, 2);
	assert_trace("map<map>(65536) = 0x10000\nunmap<map>(0x10000)\nmap<map>(8192) = 0x14000\n");
}

/* An untraced call may have released the range that was there, so only the new range is kept. */
static void test_new_range_replaces_the_old_one(void **state)
{
	allocated(MAP, PAGES(16), PAGES(8));
	allocated(MAP, PAGES(16), PAGES(2));
	assert_live(5, 1, 2);
	assert_int_equal(odd().reused, 1);
}

static void test_numbers_are_kept_for_ids(void **state)
{
	struct event e = event(OPEN, 0x10, 1);
	uint64_t kept = 7;

	/* 0 may be stored like any other value. */
	e.has_kept = true;
	ledger_allocated(trace, &e);
	assert_true(ledger_kept(trace, 2, 0x10, &kept));
	assert_int_equal(kept, 0);
	e.id = 0x20;
	e.kept = 5;
	ledger_allocated(trace, &e);
	assert_true(ledger_kept(trace, 2, 0x20, &kept));
	assert_int_equal(kept, 5);
	assert_false(ledger_kept(trace, 1, 0x20, &kept));
	assert_false(ledger_kept(trace, 2, 0x30, &kept));
	e = event(CLOSE, 0x20, 0);
	ledger_released(trace, &e);
	assert_false(ledger_kept(trace, 2, 0x20, &kept));
	/* ledger_keep() keeps a number for an id even if the id is not live, because another thread may have released
	 * it. */
	ledger_keep(trace, 2, 0x90, 9);
	assert_true(ledger_kept(trace, 2, 0x90, &kept));
	assert_int_equal(kept, 9);
	assert_false(ledger_knows(trace, 2, 0x90));
	/* The id is allocated again, without a number to keep. */
	allocated(OPEN, 0x10, 1);
	assert_false(ledger_kept(trace, 2, 0x10, &kept));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_whole_range_is_released, ledger_setup, ledger_teardown),
		cmocka_unit_test_setup_teardown(test_release_in_the_middle_leaves_two_ranges, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_releases_at_the_ends_shorten_the_range, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_release_over_several_ranges_affects_its_kind, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_releases_are_compared_with_live_ranges, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_moved_range_ends_and_begins_again, ledger_setup, ledger_teardown),
		cmocka_unit_test_setup_teardown(test_mmap_during_munmap_proves_the_release, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_new_range_replaces_the_old_one, ledger_setup, ledger_teardown),
		cmocka_unit_test_setup_teardown(test_numbers_are_kept_for_ids, ledger_setup, ledger_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
