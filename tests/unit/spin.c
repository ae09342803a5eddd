/* Tests the tracer's choice between polling and sleeping: it must find the faster way, keep it, and change it when the
 * other way becomes faster. */
#include "config.h"
#include "ptrace/spin.h"
#include "unit_test.h"

struct world {
	uint64_t sleeping, polling; /* ns for each wait of that kind */
	bool in_vain;               /* polling ends without a stop */
};

/* Simulates that number of waits in that world; returns how many of them polled. */
static unsigned run(struct spin *spin, const struct world *world, unsigned waits)
{
	unsigned polled = 0;

	for (unsigned i = 0; i < waits; i++) {
		bool timed;
		const bool polls = spin_begin(spin, &timed);

		polled += polls;
		spin_done(spin, timed, timed ? (polls ? world->polling : world->sleeping) : 0, polls && world->in_vain);
	}
	return polled;
}

/* The tracer and the target have a processor each. In a virtual machine an idle processor wakes up slowly. */
static void test_tracer_polls_where_polling_is_faster(void **state)
{
	const struct world world = {.sleeping = 100000, .polling = 30000};
	struct spin spin = {0};

	run(&spin, &world, 32);
	assert_true(run(&spin, &world, 100000) > 99000);
}

/* The tracer and the target share a processor: while the tracer polls, the target cannot run. */
static void test_tracer_sleeps_where_sleeping_is_faster(void **state)
{
	const struct world world = {.sleeping = 6000, .polling = 70000, .in_vain = true};
	struct spin spin = {0};

	/* The tracer polls in few of a million waits. The extra cost is less than a hundredth of the cost of a million
	 * sleeps. */
	const unsigned polled = run(&spin, &world, 1000000);

	assert_true(polled > 0);
	assert_true(polled * (world.polling - world.sleeping) < 1000000 * world.sleeping / 100);
}

static void test_tracer_keeps_sleeping_where_both_cost_the_same(void **state)
{
	const struct world world = {.sleeping = 10000, .polling = 9500};
	struct spin spin = {0};

	run(&spin, &world, 100000);
	assert_false(spin.polls);
}

/* A target that seldom stops: polling takes processor time and gains nothing. */
static void test_tracer_sleeps_where_stops_are_rare(void **state)
{
	const struct world world = {.sleeping = 1000000, .polling = 1000000, .in_vain = true};
	struct spin spin = {0};

	assert_true(run(&spin, &world, 10000) < 50);
}

static void test_tracer_changes_when_the_other_way_becomes_faster(void **state)
{
	const struct world apart = {.sleeping = 100000, .polling = 30000},
			   together = {.sleeping = 6000, .polling = 70000, .in_vain = true};
	struct spin spin = {0};

	run(&spin, &apart, 200000);
	assert_true(spin.polls);
	/* After waits in vain the next trial comes earlier. */
	assert_true(run(&spin, &together, 1000) < 100);
	assert_false(spin.polls);
	run(&spin, &apart, 200000);
	assert_true(spin.polls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tracer_polls_where_polling_is_faster),
		cmocka_unit_test(test_tracer_sleeps_where_sleeping_is_faster),
		cmocka_unit_test(test_tracer_keeps_sleeping_where_both_cost_the_same),
		cmocka_unit_test(test_tracer_sleeps_where_stops_are_rare),
		cmocka_unit_test(test_tracer_changes_when_the_other_way_becomes_faster),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
