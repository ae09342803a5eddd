/* Tests blocks from before the trace, found by a baseline that is taken while the program runs: races as sequences of
 * calls.
 */
#include "config.h"
#include "ledger_util.h"
#include "record/ledger.h"
#include "record/put_records.h"
#include "unit_test.h"

/* Enters the blocks of a copy into the ledger. Returns how many were entered. */
static unsigned baseline(const uint64_t *ids, size_t count)
{
	unsigned entered = 0;

	for (size_t i = 0; i < count; i++)
		entered += ledger_baseline(trace, 1, ids[i], 100 + ids[i]);
	ledger_end_baseline(trace, 1, true);
	return entered;
}

#define BASELINE(...) baseline((const uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void assert_live(uint64_t blocks, uint64_t bytes, uint64_t older, uint64_t older_bytes)
{
	const struct live_total live = ledger_live(trace, 1);

	assert_int_equal(live.blocks, blocks);
	assert_int_equal(live.bytes, bytes);
	assert_int_equal(live.older, older);
	assert_int_equal(live.older_bytes, older_bytes);
}

static void assert_nothing_odd(void)
{
	assert_int_equal(odd().unknown_releases, 0);
	assert_int_equal(odd().reused, 0);
	assert_int_equal(odd().mismatched, 0);
	assert_notes("");
}

/* Any function may release the blocks of a baseline, because it is unknown which function allocated them. */
static void test_baseline_block_may_be_released_by_any_function(void **state)
{
	assert_false(ledger_awaits_baseline(trace));
	ledger_begin_baseline(trace, 1);
	assert_true(ledger_awaits_baseline(trace));
	assert_int_equal(BASELINE(0x10, 0x20, 0x30), 3);
	assert_false(ledger_awaits_baseline(trace));
	assert_live(0, 0, 3, 300 + 0x60);
	assert_true(ledger_live(trace, 1).baseline_is_written);
	assert_int_equal(ledger_size(trace, 1, 0x20), 100 + 0x20);
	released(0x20);
	assert_live(0, 0, 2, 200 + 0x40);
	assert_nothing_odd();
	released(0x20);
	assert_int_equal(odd().unknown_releases, 1);
}

/* A: free(p), written | the copy has p, because A has not run further | A: free returns */
static void test_block_of_a_free_in_flight_is_not_entered(void **state)
{
	ledger_begin_baseline(trace, 1);
	released(0x10);
	assert_int_equal(BASELINE(0x10, 0x20), 1);
	assert_live(0, 0, 1, 100 + 0x20);
}

/* The same with ten thousand releases of other blocks in between: none is forgotten. */
static void test_free_in_flight_is_remembered_among_many(void **state)
{
	ledger_begin_baseline(trace, 1);
	released(0x10);
	for (uint64_t id = 0x1000; id < 0x1000 + 10000; id++)
		released(id);
	assert_int_equal(BASELINE(0x10), 0);
	assert_live(0, 0, 0, 0);
}

/* A: malloc takes p | the copy has p | A: malloc returns p, written */
static void test_block_of_a_malloc_in_flight_counts_once(void **state)
{
	ledger_begin_baseline(trace, 1);
	assert_int_equal(BASELINE(0x10), 1);
	allocated(MALLOC, 0x10, 7);
	assert_live(1, 7, 0, 0);
	released(0x10);
	assert_live(0, 0, 0, 0);
	assert_nothing_odd();
	/* If the block is allocated twice now, a release was not seen. */
	allocated(MALLOC, 0x10, 7);
	allocated(MALLOC, 0x10, 7);
	assert_int_equal(odd().reused, 1);
}

/* A: malloc returns p, written | the copy has p */
static void test_block_with_an_event_is_not_entered(void **state)
{
	ledger_begin_baseline(trace, 1);
	allocated(MALLOC, 0x10, 7);
	assert_int_equal(BASELINE(0x10), 0);
	assert_live(1, 7, 0, 0);
	assert_int_equal(ledger_size(trace, 1, 0x10), 7);
}

/* A: free(p), written | B: malloc() = p, written | the copy has p: it is B's */
static void test_block_allocated_again_is_not_entered(void **state)
{
	ledger_begin_baseline(trace, 1);
	released(0x10);
	allocated(MALLOC, 0x10, 7);
	assert_int_equal(BASELINE(0x10), 0);
	assert_live(1, 7, 0, 0);
}

/* A: realloc(p), entered | the copy has p | A: it returns p: a release of a known block, and an allocation */
static void test_realloc_in_flight_replaces_its_block(void **state)
{
	struct reservation reservation;

	ledger_begin_baseline(trace, 1);
	reserve(&reservation, REALLOC, 0x10);
	assert_int_equal(BASELINE(0x10), 1);
	ledger_commit(trace, &reservation, TIME_NONE);
	allocated(REALLOC, 0x10, 9);
	assert_live(1, 9, 0, 0);
	assert_nothing_odd();
	assert_trace("realloc<memory>(0x10)\nrealloc<memory>(9) = 0x10\n");
}

/* A: free(p), which waits for a publisher | the copy has p | the publisher returns q, and the release is written */
static void test_release_that_waits_finds_its_block(void **state)
{
	ledger_begin_baseline(trace, 1);
	ledger_publisher_began(trace, 1);
	released(0x10);
	assert_trace("");
	assert_int_equal(BASELINE(0x10), 1);
	ledger_publisher_done(trace, 1);
	assert_trace("free<memory>(0x10)\n");
	assert_live(0, 0, 0, 0);
	assert_nothing_odd();
}

/* ---- Events that come while the copy is read, and wait to be written ---- */

static void begin(void)
{
	trace->origin.attached = true;
	ledger_begin_baseline(trace, 1);
	put_defer(trace);
}

/* the copy has p, q | A: free(p), which waits | p and q are in the trace, and then the release */
static void test_release_after_the_copy_is_written_later(void **state)
{
	begin();
	ledger_baseline_copied(trace);
	released(0x10);
	assert_int_equal(odd().unknown_releases, 1);
	assert_trace("");
	assert_int_equal(BASELINE(0x10, 0x20), 2);
	put_undefer(trace);
	assert_trace("free<memory>(0x10)\n");
	assert_live(0, 0, 1, 100 + 0x20);
	assert_nothing_odd();
}

/* the copy has p | A: free(p) | B: malloc() = p | the baseline: p is from before the trace, and is B's now */
static void test_block_allocated_again_after_the_copy_counts_once(void **state)
{
	begin();
	ledger_baseline_copied(trace);
	released(0x10);
	allocated(MALLOC, 0x10, 7);
	assert_int_equal(BASELINE(0x10), 1);
	put_undefer(trace);
	assert_trace("free<memory>(0x10)\nmalloc<memory>(7) = 0x10\n");
	assert_live(1, 7, 0, 0);
	assert_nothing_odd();
}

/* A: free(p), written | the copy has p, because A has not run further | A: free(p) again: the first release counts */
static void test_release_before_the_copy_counts(void **state)
{
	begin();
	released(0x10);
	ledger_baseline_copied(trace);
	released(0x10);
	assert_int_equal(BASELINE(0x10), 0);
	assert_int_equal(odd().unknown_releases, 2);
}

/* an unused copy | A: free(p) | another copy has p, because A has not run further */
static void test_block_released_before_the_last_copy_is_not_entered(void **state)
{
	begin();
	ledger_baseline_copied(trace);
	released(0x10);
	ledger_baseline_copied(trace);
	assert_int_equal(BASELINE(0x10), 0);
	assert_int_equal(odd().unknown_releases, 1);
}

/* A: malloc() = p, written | the copy has p | A: free(p): both are in the trace, and p is not from before */
static void test_known_block_released_after_the_copy_is_not_entered(void **state)
{
	begin();
	allocated(MALLOC, 0x10, 7);
	ledger_baseline_copied(trace);
	released(0x10);
	assert_int_equal(BASELINE(0x10), 0);
	assert_nothing_odd();
}

/* Too many events waited, so they were written: the release precedes the baseline in the trace. */
static void test_block_of_a_written_release_is_not_entered(void **state)
{
	begin();
	ledger_baseline_copied(trace);
	released(0x10);
	put_undefer(trace);
	assert_trace("free<memory>(0x10)\n");
	assert_int_equal(BASELINE(0x10), 0);
	assert_int_equal(odd().unknown_releases, 1);
}

/* the copy has p, in the list of a cache that was not found | the C library frees it when A ends: no event */
static void test_block_of_the_c_library_is_not_entered(void **state)
{
	begin();
	ledger_baseline_copied(trace);
	assert_true(ledger_has_baseline(trace, 1));
	ledger_baseline_without(trace, 1, 0x10);
	assert_int_equal(BASELINE(0x10), 0);
	assert_true(ledger_has_baseline(trace, 1));
	assert_nothing_odd();
}

static void test_incomplete_baseline_does_not_count(void **state)
{
	assert_false(ledger_has_baseline(trace, 1));
	ledger_begin_baseline(trace, 1);
	ledger_end_baseline(trace, 1, false);
	assert_false(ledger_has_baseline(trace, 1));
}

/* One block is too large to be stored together with its event, another exceeds all limits. */
static void test_very_large_blocks_are_entered(void **state)
{
	ledger_begin_baseline(trace, 1);
	assert_true(ledger_baseline(trace, 1, 0x10, UINT64_C(1) << 40));
	assert_true(ledger_baseline(trace, 1, 0x20, UINT64_MAX));
	assert_false(ledger_baseline(trace, 1, 0x20, 1));
	ledger_end_baseline(trace, 1, true);
	assert_int_equal(ledger_size(trace, 1, 0x10), UINT64_C(1) << 40);
	released(0x10);
	released(0x20);
	assert_live(0, 0, 0, 0);
	assert_nothing_odd();
}

/* The table does not grow while many blocks are entered, because the program would have to wait. */
static void test_prepared_room_takes_all_blocks(void **state)
{
	struct hash room = hash_with_room(100000);
	const struct hash_entry *const entries = room.entries;

	allocated(MALLOC, 0x10, 64);
	ledger_begin_baseline(trace, 1);
	ledger_take_room(trace, 1, &room);
	assert_null(room.entries);
	for (uint64_t id = 0x10; id <= 100000 * 0x10; id += 0x10)
		assert_int_equal(ledger_baseline(trace, 1, id, 1), id != 0x10);
	ledger_end_baseline(trace, 1, true);
	assert_ptr_equal(trace->ledger.live[1].blocks.entries, entries);
	assert_live(1, 64, 99999, 99999);
	assert_nothing_odd();
}

struct asked {
	uint64_t is, last;
	unsigned count;
};

static bool is_it(const void *context, uint64_t id)
{
	struct asked *const asked = *(struct asked *const *)context;

	asked->count++;
	asked->last = id;
	return !asked->is || id == asked->is;
}

/* The search ends at the first block for which the callback returns true. */
static void test_search_ends_at_the_first_match(void **state)
{
	struct asked any = {0}, one = {.is = 0x20}, none = {.is = 0x40};
	struct asked *asked = &any;

	assert_false(ledger_has_any(trace, 1, is_it, &asked));
	ledger_begin_baseline(trace, 1);
	BASELINE(0x10, 0x20, 0x30);
	assert_true(ledger_has_any(trace, 1, is_it, &asked));
	assert_int_equal(any.count, 1);
	asked = &one;
	assert_true(ledger_has_any(trace, 1, is_it, &asked));
	assert_int_equal(one.last, 0x20);
	asked = &none;
	assert_false(ledger_has_any(trace, 1, is_it, &asked));
	assert_int_equal(none.count, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_baseline_block_may_be_released_by_any_function, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_block_of_a_free_in_flight_is_not_entered, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_free_in_flight_is_remembered_among_many, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_block_of_a_malloc_in_flight_counts_once, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_block_with_an_event_is_not_entered, ledger_setup, ledger_teardown),
		cmocka_unit_test_setup_teardown(test_block_allocated_again_is_not_entered, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_realloc_in_flight_replaces_its_block, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_release_that_waits_finds_its_block, ledger_setup, ledger_teardown),
		cmocka_unit_test_setup_teardown(test_release_after_the_copy_is_written_later, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_block_allocated_again_after_the_copy_counts_once, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_release_before_the_copy_counts, ledger_setup, ledger_teardown),
		cmocka_unit_test_setup_teardown(test_block_released_before_the_last_copy_is_not_entered, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_known_block_released_after_the_copy_is_not_entered, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_block_of_a_written_release_is_not_entered, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_block_of_the_c_library_is_not_entered, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_incomplete_baseline_does_not_count, ledger_setup, ledger_teardown),
		cmocka_unit_test_setup_teardown(test_very_large_blocks_are_entered, ledger_setup, ledger_teardown),
		cmocka_unit_test_setup_teardown(test_prepared_room_takes_all_blocks, ledger_setup, ledger_teardown),
		cmocka_unit_test_setup_teardown(test_search_ends_at_the_first_match, ledger_setup, ledger_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
