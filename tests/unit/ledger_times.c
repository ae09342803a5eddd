/* Tests the times of events in the trace, which are never earlier than those of the events before them. */
#include "config.h"
#include "ledger_util.h"
#include "record/ledger.h"
#include "record/trace_output.h"
#include "base/util.h"
#include "unit_test.h"

#define SECOND UINT64_C(1000000000)

static struct event at(int function, uint64_t id, uint64_t seconds)
{
	struct event e = event(function, id, 0);

	e.time_ns = seconds * SECOND;
	return e;
}

/* main: begin() = t | main: join(t) enters | t: malloc() | main: join returns: the thread ends at this time. */
static void test_join_has_the_time_of_its_return(void **state)
{
	struct event e = at(BEGIN, 0x7, 1);
	struct reservation join;

	ledger_allocated(trace, &e);
	e = at(JOIN, 0x7, 2);
	ledger_reserve(trace, &join, &e, NULL);
	e = at(MALLOC, 0x10, 3600 * 3);
	ledger_allocated(trace, &e);
	ledger_commit(trace, &join, 3601 * 3 * SECOND);
	assert_trace("[00:00:01.000000] begin<thread>(0) = 0x7\n[03:00:00.000000] malloc<memory>(0) = 0x10\n"
		     "[03:00:03.000000] join<thread>(0x7)\n");
}

/* A: realloc(p) enters | B: malloc() = p, which proves that A's call has released it, at the latest at B's return. */
static void test_proven_release_has_the_time_of_its_proof(void **state)
{
	struct event e = at(MALLOC, 0x10, 1);
	struct reservation a;

	ledger_allocated(trace, &e);
	e = at(REALLOC, 0x10, 2);
	ledger_reserve(trace, &a, &e, NULL);
	e = at(MALLOC, 0x10, 3);
	ledger_allocated(trace, &e);
	assert_false(a.is_open);
	assert_trace("[00:00:01.000000] malloc<memory>(0) = 0x10\n[00:00:03.000000] realloc<memory>(0x10)\n"
		     "[00:00:03.000000] malloc<memory>(0) = 0x10\n");
}

/* A: posix_memalign() enters, publishes p | B: free(p), waits | B: malloc() = q | A: returns p | B's release is
 * written. */
static void test_waiting_release_has_the_time_of_its_writing(void **state)
{
	struct event e = at(FREE, 0x10, 2);

	ledger_publisher_began(trace, 1);
	ledger_released(trace, &e);
	e = at(MALLOC, 0x20, 3);
	ledger_allocated(trace, &e);
	e = at(MALLOC, 0x10, 4);
	ledger_allocated(trace, &e);
	ledger_publisher_done(trace, 1);
	assert_trace("[00:00:03.000000] malloc<memory>(0) = 0x20\n[00:00:04.000000] malloc<memory>(0) = 0x10\n"
		     "[00:00:04.000000] free<memory>(0x10)\n");
}

/* The wall clock is set back by an hour and more. */
static void test_times_never_go_back(void **state)
{
	settings.trace.timestamps = true;
	output_start(trace);
	const uint64_t before = times_now(&trace->times);

	trace->times.shown_ns += 5000 * SECOND; /* as if a time so far in the future had already been written */
	const uint64_t after = times_now(&trace->times);

	assert_in_range(after - before, 5000 * SECOND, 5100 * SECOND);
	assert_in_range(times_now(&trace->times) - after, 0, 100 * SECOND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_join_has_the_time_of_its_return, ledger_setup, ledger_teardown),
		cmocka_unit_test_setup_teardown(test_proven_release_has_the_time_of_its_proof, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_waiting_release_has_the_time_of_its_writing, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_times_never_go_back, ledger_setup, ledger_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
