/* Tests the order in which releases and allocations are written: races of two threads, as sequences of calls. */
#include "config.h"
#include "ledger_util.h"
#include "record/released_blocks.h"
#include "record/resource_ids.h"
#include "record/ledger.h"
#include "record/run.h"
#include "trace/event.h"
#include "unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void test_events_are_written_in_their_order(void **state)
{
	allocated(MALLOC, 0x10, 5);
	allocated(MALLOC, 0x20, 7);
	released(0x10);
	assert_int_equal(ledger_live(trace, 1).blocks, 1);
	assert_int_equal(ledger_live(trace, 1).bytes, 7);
	assert_int_equal(odd().unknown_releases, 0);
	assert_trace("malloc<memory>(5) = 0x10\nmalloc<memory>(7) = 0x20\nfree<memory>(0x10)\n");
}

/* A: realloc(p) enters | A frees p inside | B: malloc() = p | A: realloc returns q. */
static void test_malloc_of_its_address_proves_a_realloc(void **state)
{
	allocated(MALLOC, 0x10, 5);
	struct reservation a;

	reserve(&a, REALLOC, 0x10);
	allocated(MALLOC, 0x10, 9); /* proves that A's realloc has succeeded */
	assert_false(a.is_open);
	allocated(REALLOC, 0x30, 50);
	assert_trace("malloc<memory>(5) = 0x10\nrealloc<memory>(0x10)\nmalloc<memory>(9) = 0x10\n"
		     "realloc<memory>(50) = 0x30\n");
}

/* A failed realloc releases nothing. */
static void test_failed_realloc_releases_nothing(void **state)
{
	allocated(MALLOC, 0x10, 5);
	struct reservation a;

	reserve(&a, REALLOC, 0x10);
	ledger_withdraw(trace, &a);
	allocated(MALLOC, 0x20, 6);
	assert_int_equal(ledger_live(trace, 1).blocks, 2);
	assert_trace("malloc<memory>(5) = 0x10\nmalloc<memory>(6) = 0x20\n");
}

/* An id of another kind of resource proves nothing: A: realloc(5) enters | B: open() = 5 | A: realloc fails. */
static void test_id_of_another_kind_proves_nothing(void **state)
{
	struct reservation a, b;

	allocated(MALLOC, 5, 100);
	allocated(OPEN, 6, 0);
	reserve(&a, REALLOC, 5);
	allocated(OPEN, 5, 0);
	assert_true(a.is_open);
	/* Nor does a release of another kind end a reservation of the same id. */
	reserve(&b, CLOSE, 5);
	assert_true(a.is_open);
	assert_ptr_equal(ledger_reserved(trace, 1, 5), &a);
	assert_ptr_equal(ledger_reserved(trace, 2, 5), &b);
	ledger_withdraw(trace, &a);
	ledger_commit(trace, &b, TIME_NONE);
	assert_int_equal(ledger_live(trace, 1).blocks, 1);
	assert_int_equal(ledger_live(trace, 2).blocks, 1);
	assert_true(ledger_knows(trace, 1, 5));
	assert_false(ledger_knows(trace, 2, 5));
	assert_trace("malloc<memory>(100) = 0x5\nopen<file>(0) = 0x6\nopen<file>(0) = 0x5\nclose<file>(0x5)\n");
}

/* A release waits only for calls that may have published an id of its own kind. */
static void test_release_does_not_wait_for_another_kind(void **state)
{
	ledger_publisher_began(trace, 2);
	released(0x40);
	assert_trace("free<memory>(0x40)\n");
	ledger_publisher_done(trace, 2);
	assert_int_equal(odd().unknown_releases, 1);
}

/* A thread that has reserved an id releases it by another call, because a longjmp has left the reserving call. The
 * reservation must not be taken for a release when the address is allocated again. */
static void test_reservation_left_by_longjmp_is_withdrawn(void **state)
{
	struct reservation a, b;

	allocated(MALLOC, 0x10, 5);
	reserve(&a, REALLOC, 0x10);
	ledger_withdraw(trace, ledger_reserved(trace, 1, 0x10));
	assert_false(a.is_open);
	released(0x10);
	allocated(MALLOC, 0x10, 6);
	/* The call is left by longjmp again, and then made again. */
	reserve(&a, REALLOC, 0x10);
	reserve(&b, REALLOC, 0x10);
	assert_false(a.is_open);
	ledger_commit(trace, &b, TIME_NONE);
	allocated(MALLOC, 0x10, 7);
	assert_int_equal(ledger_live(trace, 1).blocks, 1);
	assert_int_equal(ledger_live(trace, 1).bytes, 7);
	assert_trace("malloc<memory>(5) = 0x10\nfree<memory>(0x10)\nmalloc<memory>(6) = 0x10\n"
		     "realloc<memory>(0x10)\nmalloc<memory>(7) = 0x10\n");
}

/* Two calls that overlap: A: realloc(p) | B: realloc(q) | A returns q | B returns p. */
static void test_crossing_reallocs_are_written_in_order(void **state)
{
	allocated(MALLOC, 0x10, 1);
	allocated(MALLOC, 0x20, 2);
	struct reservation a;
	struct reservation b;

	reserve(&a, REALLOC, 0x10);
	reserve(&b, REALLOC, 0x20);
	ledger_commit(trace, &a, TIME_NONE); /* A's own return */
	allocated(REALLOC, 0x20, 3);
	assert_false(b.is_open);
	allocated(REALLOC, 0x10, 4);
	assert_trace("malloc<memory>(1) = 0x10\nmalloc<memory>(2) = 0x20\nrealloc<memory>(0x10)\n"
		     "realloc<memory>(0x20)\nrealloc<memory>(3) = 0x20\nrealloc<memory>(4) = 0x10\n");
}

/* posix_memalign writes its pointer before it returns: another thread may free the block in between. */
static void test_release_of_a_published_id_waits(void **state)
{
	ledger_publisher_began(trace, 1);
	struct thread *thread = thread_new(3, 3);
	struct event e = event(FREE, 0x40, 0);

	thread->name_known = true;
	e.thread = thread;
	ledger_released(trace, &e);
	thread_unref(thread); /* the thread ends meanwhile */
	assert_trace("");
	allocated(MALLOC, 0x40, 64);
	ledger_publisher_done(trace, 1);
	assert_int_equal(ledger_live(trace, 1).blocks, 0);
	assert_int_equal(odd().unknown_releases, 0);
	assert_trace("malloc<memory>(64) = 0x40\nfree<memory>(0x40)\n");
}

/* pthread_create has written the new thread's id. The new thread detaches itself by a call that can fail, and this call
 * returns before pthread_create. */
static void test_committed_release_of_a_published_id_waits(void **state)
{
	struct reservation detach;

	ledger_publisher_began(trace, 2);
	reserve(&detach, CLOSE, 0x40);
	ledger_commit(trace, &detach, TIME_NONE);
	assert_false(detach.is_open);
	assert_trace("");
	allocated(OPEN, 0x40, 1);
	ledger_publisher_done(trace, 2);
	assert_trace("open<file>(1) = 0x40\nclose<file>(0x40)\n");
	assert_int_equal(odd().unknown_releases, 0);
	assert_int_equal(ledger_live(trace, 2).blocks, 0);
	/* The call that created the thread was not traced. */
	reserve(&detach, CLOSE, 0x50);
	ledger_commit(trace, &detach, TIME_NONE);
	assert_int_equal(odd().unknown_releases, 1);
}

/* A: pthread_create writes X | B: pthread_tryjoin_np(X), which fails, because X still runs | A returns X. */
static void test_failed_release_of_a_published_id_is_not_written(void **state)
{
	struct reservation join;

	ledger_publisher_began(trace, 2);
	reserve(&join, CLOSE, 0x40);
	allocated(OPEN, 0x40, 1); /* proves nothing: it is the allocation that the other call has failed to release */
	assert_true(join.is_open);
	ledger_publisher_done(trace, 2);
	ledger_withdraw(trace, &join);
	assert_trace("open<file>(1) = 0x40\n");
}

/* A: pthread_join(X), X is free again | B: pthread_create writes X | X: pthread_detach(X) | A returns | B returns. */
static void test_id_published_again_is_released_twice(void **state)
{
	struct reservation join, detach;

	allocated(OPEN, 0x40, 1);
	reserve(&join, CLOSE, 0x40);
	ledger_publisher_began(trace, 2);
	reserve(&detach, CLOSE, 0x40);
	assert_false(join.is_open);
	ledger_commit(trace, &detach, TIME_NONE);
	ledger_commit(trace, &join, TIME_NONE);
	allocated(OPEN, 0x40, 2);
	ledger_publisher_done(trace, 2);
	assert_trace("open<file>(1) = 0x40\nclose<file>(0x40)\nopen<file>(2) = 0x40\nclose<file>(0x40)\n");
	assert_int_equal(odd().unknown_releases, 0);
}

/* Each reference is an event; the block is live until the last reference is released. */
static void test_block_is_live_until_its_last_reference(void **state)
{
	struct reservation a;
	const struct event unref = event(UNREF, 0x10, 0);

	allocated(REF, 0x10, 4);
	allocated(REF, 0x10, 4);
	allocated(MALLOC, 0x10, 4); /* a resource of another kind, so it adds no reference */
	assert_int_equal(ledger_live(trace, 3).blocks, 1);
	assert_int_equal(ledger_live(trace, 3).bytes, 4);
	ledger_released(trace, &unref);
	assert_true(ledger_knows(trace, 3, 0x10));
	/* A: unref(0x10) enters | B: ref(0x10) = 0x10, which proves nothing | A: unref fails. */
	reserve(&a, UNREF, 0x10);
	allocated(REF, 0x10, 4);
	assert_true(a.is_open);
	ledger_withdraw(trace, &a);
	ledger_released(trace, &unref);
	assert_int_equal(ledger_live(trace, 3).blocks, 1);
	ledger_released(trace, &unref);
	assert_int_equal(ledger_live(trace, 3).blocks, 0);
	assert_int_equal(ledger_live(trace, 3).bytes, 0);
	assert_int_equal(odd().unknown_releases, 0);
	ledger_released(trace, &unref);
	assert_int_equal(odd().unknown_releases, 1);
	allocated(REF, 0x10, 4); /* anew, with one reference */
	ledger_released(trace, &unref);
	assert_int_equal(ledger_live(trace, 3).blocks, 0);
	assert_trace("ref<object>(4) = 0x10\nref<object>(4) = 0x10\nmalloc<memory>(4) = 0x10\nunref<object>(0x10)\n"
		     "ref<object>(4) = 0x10\nunref<object>(0x10)\nunref<object>(0x10)\nunref<object>(0x10)\n"
		     "ref<object>(4) = 0x10\nunref<object>(0x10)\n");
}

/* Two threads release a reference each at the same time: A enters | B enters | B returns | A returns. */
static void test_two_threads_release_a_reference_each(void **state)
{
	struct reservation a, b;

	allocated(REF, 0x10, 4);
	allocated(REF, 0x10, 4);
	reserve(&a, UNREF, 0x10);
	reserve(&b, UNREF, 0x10);
	ledger_commit(trace, &b, TIME_NONE);
	ledger_commit(trace, &a, TIME_NONE);
	assert_int_equal(ledger_live(trace, 3).blocks, 0);
	assert_int_equal(odd().unknown_releases, 0);
}

/* Calls of a kind with RESOURCE_CALL make no resource live, and release none. */
static void test_calls_have_no_live_resources(void **state)
{
	const struct event leave = event(LEAVE, 0x20, 0);

	allocated(VISIT, 0x10, 4);
	ledger_released(trace, &leave);
	assert_int_equal(ledger_live(trace, 4).blocks, 0);
	assert_int_equal(odd().unknown_releases, 0);
	assert_int_equal(trace->counts.events, 2);
}

static void test_kinds_are_numbered_across_modules(void **state)
{
	assert_int_equal(kinds_end(&settings), 8);
	assert_null(kind_of(&settings, 0));
	assert_null(kind_of(&settings, 8));
	assert_ptr_equal(kind_of(&settings, 2), &ledger_module.resources[1]);
	assert_ptr_equal(kind_of(&settings, 3), &ledger_more.resources[0]);
	assert_int_equal(kind_id(&settings, &ledger_more, 1), 4);
	assert_int_equal(kind_id(&settings, &ledger_module, 0), 1);
}

static void test_unknown_and_mismatched_releases_are_noted(void **state)
{
	released(0x50);
	assert_int_equal(odd().unknown_releases, 1);
	assert_int_equal(odd().repeated, 0);
	allocated(NEW, 0x60, 8);
	released(0x60);
	assert_int_equal(odd().mismatched, 1);
	assert_trace("free<memory>(0x50)\nnew<memory>(8) = 0x60\nfree<memory>(0x60)\n");
	/* A large block is remembered without its event. */
	allocated(NEW, 0x70, 1 << 22);
	released(0x70);
	assert_int_equal(ledger_live(trace, 1).bytes, 0);
	assert_notes(
		"free releases 0x50, which is not allocated (released earlier, or allocated by no traced function)\n"
		"mismatch: free releases 0x60 (event 3), which was allocated by new (event 2)\n"
		"mismatch: free releases 0x70 (event 5), which was allocated by new\n");
}

/* Blocks are released twice, by one or two functions; one block is allocated in between, which is correct. Then the
 * release of 0x40 shows that allocations may have been missed, so the last note says this, too. */
static void test_double_releases_are_noted(void **state)
{
	struct reservation a;

	allocated(MALLOC, 0x10, 5);
	released(0x10);
	released(0x10);
	allocated(MALLOC, 0x20, 5);
	released(0x20);
	allocated(MALLOC, 0x20, 6);
	released(0x20);
	allocated(MALLOC, 0x30, 5);
	reserve(&a, REALLOC, 0x30);
	ledger_commit(trace, &a, TIME_NONE);
	released(0x30);
	assert_int_equal(odd().unknown_releases, 2);
	assert_int_equal(odd().repeated, 2);
	released(0x40);
	released(0x30);
	assert_int_equal(odd().unknown_releases, 4);
	assert_int_equal(odd().repeated, 3);
	assert_notes(
		"free releases 0x10 (event 3), which free has released already (event 2): a double release\n"
		"free releases 0x30 (event 10), which realloc has released already (event 9): a double release\n"
		"free releases 0x40, which is not allocated (released earlier, or allocated by no traced function)\n"
		"free releases 0x30 (event 12), which free has released already (event 10): a double release, or "
		"its allocation was not seen\n");
}

/* A small table remembers released ids. Later ids replace earlier ones, and no id is taken for another. */
static void test_forgotten_releases_are_not_taken_for_double(void **state)
{
	for (uint64_t id = 1; id <= 100000; id++) {
		allocated(MALLOC, id << 4, 1);
		released(id << 4);
	}
	for (uint64_t id = 100001; id <= 200000; id++)
		released(id << 4);
	assert_int_equal(odd().unknown_releases, 100000);
	assert_int_equal(odd().repeated, 0);
	released(200000 << 4);
	assert_int_equal(odd().repeated, 1);
}

/* If an id is allocated while it is live, its release was not seen: only the new block counts as live. If references
 * are counted, the id gets one more reference instead. */
static void test_reused_id_replaces_its_block(void **state)
{
	allocated(MALLOC, 0x10, 5);
	allocated(MALLOC, 0x10, 1 << 30);
	allocated(MALLOC, 0x10, 7);
	allocated(REF, 0x10, 1);
	allocated(REF, 0x10, 1);
	assert_int_equal(odd().reused, 2);
	assert_int_equal(ledger_live(trace, 1).blocks, 1);
	assert_int_equal(ledger_live(trace, 1).bytes, 7);
}

/* A fork's child has its parent's blocks. The functions that allocated these blocks are known, but the allocations are
 * no events in the child's trace. */
static void test_child_inherits_blocks_without_events(void **state)
{
	allocated(NEW, 0x10, 5);
	allocated(NEW, 0x20, (1ull << 54) + 5); /* more than the largest size that can be kept */
	struct trace *const parent = trace;
	struct trace child = *parent;

	ledger_init(&child);
	ledger_fork(parent, &child);
	child.counts = (struct counts){0};
	trace = &child;
	assert_int_equal(ledger_live(trace, 1).older, 2);
	assert_int_equal(ledger_live(trace, 1).older_bytes, 5 + (1ull << 54) - 1);
	released(0x10);
	released(0x20);
	assert_int_equal(odd().mismatched, 2);
	assert_int_equal(ledger_live(trace, 1).older_bytes, 0);
	assert_notes("mismatch: free releases 0x10 (event 3), which was allocated by new, before the fork\n"
		     "mismatch: free releases 0x20 (event 4), which was allocated by new, before the fork\n");
	ledger_free(&child);
	trace = parent;
}

/* A fork's child has none of its parent's threads, and may allocate their ids again. */
static void test_child_does_not_inherit_threads(void **state)
{
	allocated(BEGIN, 0x10, 1);
	struct trace *const parent = trace;
	struct trace child = *parent;

	ledger_init(&child);
	ledger_fork(parent, &child);
	child.counts = (struct counts){0};
	trace = &child;
	assert_int_equal(ledger_live(trace, 7).older, 0);
	assert_false(ledger_knows(trace, 7, 0x10));
	allocated(BEGIN, 0x10, 1);
	assert_int_equal(odd().reused, 0);
	assert_int_equal(ledger_live(trace, 7).blocks, 1);
	ledger_free(&child);
	trace = parent;
	assert_int_equal(ledger_live(trace, 7).blocks, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_events_are_written_in_their_order, ledger_setup, ledger_teardown),
		cmocka_unit_test_setup_teardown(test_malloc_of_its_address_proves_a_realloc, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_failed_realloc_releases_nothing, ledger_setup, ledger_teardown),
		cmocka_unit_test_setup_teardown(test_id_of_another_kind_proves_nothing, ledger_setup, ledger_teardown),
		cmocka_unit_test_setup_teardown(test_release_does_not_wait_for_another_kind, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_reservation_left_by_longjmp_is_withdrawn, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_crossing_reallocs_are_written_in_order, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_release_of_a_published_id_waits, ledger_setup, ledger_teardown),
		cmocka_unit_test_setup_teardown(test_committed_release_of_a_published_id_waits, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_failed_release_of_a_published_id_is_not_written, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_id_published_again_is_released_twice, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_block_is_live_until_its_last_reference, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_two_threads_release_a_reference_each, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_calls_have_no_live_resources, ledger_setup, ledger_teardown),
		cmocka_unit_test_setup_teardown(test_kinds_are_numbered_across_modules, ledger_setup, ledger_teardown),
		cmocka_unit_test_setup_teardown(test_unknown_and_mismatched_releases_are_noted, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_double_releases_are_noted, ledger_setup, ledger_teardown),
		cmocka_unit_test_setup_teardown(test_forgotten_releases_are_not_taken_for_double, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_reused_id_replaces_its_block, ledger_setup, ledger_teardown),
		cmocka_unit_test_setup_teardown(test_child_inherits_blocks_without_events, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_child_does_not_inherit_threads, ledger_setup, ledger_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
