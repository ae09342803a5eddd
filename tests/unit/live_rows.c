/* Tests the figures of the live view at updates, and after a key between two updates. */
#include "config.h"
#include "unit_test.h"

#include "live/view_rows.h"
#include "base/util.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char head[] = "version=1.4,arch=x86_64,timestamp=2012-05-04 10:00:00 +0000,process=/bin/prog,pid=42,"
			   "origin=test\n<1> : memory (memory allocation in bytes)\n";

static const struct names_options no_options;
static const struct live_options options = {.names = &no_options};

/* A view of one process, whose trace the test writes into a pipe. */
struct shown {
	struct view view;
	int pipe;
	unsigned calls;
};

static void begin(struct shown *shown)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	*shown = (struct shown){.pipe = ends[1]};
	shown->view = (struct view){
		.options = &options, .profile = profile_new(), .names = names_new(&no_options), .scan_reason = ""};
	pthread_mutex_init(&shown->view.lock, NULL);
	ARRAY_GROW(shown->view.processes, shown->view.process_capacity, shown->view.process_count);
	shown->view.processes[0] = watched_new(ends[0], NULL, 0, shown->view.profile, &no_options, &shown->view.lock);
	assert_non_null(shown->view.processes[0]);
	shown->view.process_count = 1;
	assert_int_equal(write_all(shown->pipe, head, strlen(head), NULL), 0);
}

static uint64_t events(struct shown *shown)
{
	pthread_mutex_lock(&shown->view.lock);
	const uint64_t count = shown->view.processes[0]->account.events;

	pthread_mutex_unlock(&shown->view.lock);
	return count;
}

/* Writes that many allocations of 8 bytes, all with one stack, and waits until the view's thread has read them. */
static void allocate(struct shown *shown, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		char text[128];

		shown->calls++;
		snprintf(text, sizeof(text), "%u. [10:00:01.000000] malloc<memory>(8) = 0x%x\n\t0x10 maker\n\n",
			 shown->calls, 0x1000 + 16 * shown->calls);
		assert_int_equal(write_all(shown->pipe, text, strlen(text), NULL), 0);
	}
	for (unsigned naps = 0; events(shown) < shown->calls && naps < 60000; naps++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	assert_int_equal(events(shown), shown->calls);
}

static void end(struct shown *shown)
{
	close(shown->pipe);
	view_free(&shown->view);
}

static void expect(const struct shown *shown, double calls, int64_t grown)
{
	assert_int_equal(shown->view.row_count, 1);
	assert_true(shown->view.calls == calls);
	assert_true(shown->view.rows[0].calls == calls);
	assert_int_equal(shown->view.rows[0].grown_last, grown);
}

static void test_calls_are_counted_over_the_time_in_which_they_came(void **state)
{
	struct shown shown;

	begin(&shown);
	allocate(&shown, 8);
	view_update(&shown.view, 2);
	expect(&shown, 4, 64);
	/* a key right after the update changes no figure */
	view_arrange(&shown.view, 0);
	expect(&shown, 4, 64);
	/* a key after a pause of 6 seconds, in which 24 calls came */
	allocate(&shown, 24);
	view_arrange(&shown.view, 6);
	expect(&shown, 4, 256);
	view_update(&shown.view, 6);
	expect(&shown, 4, 192);
	/* an interval without calls */
	view_update(&shown.view, 1);
	expect(&shown, 0, 0);
	view_arrange(&shown.view, 1);
	expect(&shown, 0, 0);
	end(&shown);
}

static void test_growth_is_counted_from_the_baseline(void **state)
{
	struct shown shown;

	begin(&shown);
	allocate(&shown, 4);
	view_update(&shown.view, 1);
	assert_int_equal(shown.view.rows[0].grown, 32);
	view_set_baseline(&shown.view);
	view_arrange(&shown.view, 1);
	assert_int_equal(shown.view.rows[0].grown, 0);
	assert_int_equal(shown.view.grown, 0);
	allocate(&shown, 2);
	view_update(&shown.view, 2);
	assert_int_equal(shown.view.rows[0].grown, 16);
	assert_int_equal(shown.view.grown, 16);
	assert_int_equal(shown.view.rows[0].live.bytes, 48);
	end(&shown);
}

/* The program's name is that of a link, and the rows have the path of its file. */
static void test_a_watched_program_has_its_started_name(void **state)
{
	struct shown shown;
	char path[512] = "";

	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	begin(&shown);
	struct account *const account = &shown.view.processes[0]->account;

	allocate(&shown, 1);
	pthread_mutex_lock(&shown.view.lock);
	free(account->name);
	account->name = xasprintf("%s (estimates of functrace --watch)", path);
	account->pid = (uint32_t)getpid();
	account->intervals.count = 1;
	assert_string_equal(watched_program(shown.view.processes[0]), path_name(path));
	pthread_mutex_unlock(&shown.view.lock);
	end(&shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_are_counted_over_the_time_in_which_they_came),
		cmocka_unit_test(test_growth_is_counted_from_the_baseline),
		cmocka_unit_test(test_a_watched_program_has_its_started_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
