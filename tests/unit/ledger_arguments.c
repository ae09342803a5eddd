/* Tests how arguments of calls (-a) get into the trace, and how failed calls are written. */
#include "config.h"
#include "ledger_util.h"
#include "record/ledger.h"
#include "record/remarks.h"
#include "unit_test.h"

#include <stdio.h>
#include <string.h>

/* A call and its waiting events share one list of arguments, so the arguments that the call's return adds are written,
 * too. First a release waits for a publisher; the releasing call drops the list before the release is written. Then a
 * realloc enters, and its return adds the result. */
static void test_arguments_are_written_with_waiting_events(void **state)
{
	struct event e = event(FREE, 0x40, 0);
	struct reservation reservation;

	ledger_publisher_began(trace, 1);
	e.args = arg_list_new();
	arg_list_add(e.args, "ptr", "0x40");
	ledger_released(trace, &e);
	arg_list_unref(e.args);
	assert_arguments("");
	ledger_publisher_done(trace, 1);
	assert_arguments("1 = ptr=0x40\n");

	allocated(MALLOC, 0x50, 8);
	e = event(REALLOC, 0x50, 0);
	e.args = arg_list_new();
	arg_list_add(e.args, "ptr", "0x50");
	ledger_reserve(trace, &reservation, &e, NULL);
	arg_list_add(e.args, ARG_RESULT, "0x60");
	arg_list_unref(e.args);
	ledger_commit(trace, &reservation, TIME_NONE);
	assert_trace("free<memory>(0x40)\nmalloc<memory>(8) = 0x50\nrealloc<memory>(0x50)\n");
	assert_arguments("1 = ptr=0x40\n1 = ptr=0x50\n2 = return=0x60\n");
}

/* A failed call is no event. */
static void test_failed_call_is_a_note(void **state)
{
	struct event e = event(OPEN, 0, 0);

	e.args = arg_list_new();
	remark_failed(trace, &e);
	arg_list_add(e.args, "path", "\"/x\"");
	arg_list_add(e.args, "flags", "O_RDONLY");
	remark_failed(trace, &e);
	arg_list_add(e.args, ARG_RESULT, "-1");
	remark_failed(trace, &e);
	arg_list_add(e.args, ARG_ERROR, "ENOENT");
	remark_failed(trace, &e);
	arg_list_unref(e.args);
	assert_notes("open() failed\nopen(path=\"/x\", flags=O_RDONLY) failed\n"
		     "open(path=\"/x\", flags=O_RDONLY) = -1 failed\nopen(path=\"/x\", flags=O_RDONLY) = -1 ENOENT\n");
	assert_int_equal(ledger_live(trace, 2).blocks, 0);
}

/* The note of a failed call contains all arguments, however long they are. A format with less room marks what it
 * truncates. */
static void test_note_of_a_failed_call_is_not_cut(void **state)
{
	static char path[5000], note[5100];
	struct event e = event(OPEN, 0, 0);

	memset(path, 'x', sizeof(path) - 1);
	e.args = arg_list_new();
	arg_list_add(e.args, "path", path);
	arg_list_add(e.args, ARG_RESULT, "-1");
	arg_list_add(e.args, ARG_ERROR, "ENAMETOOLONG");
	remark_failed(trace, &e);
	arg_list_unref(e.args);
	snprintf(note, sizeof(note), "open(path=%s) = -1 ENAMETOOLONG\n", path);
	assert_notes(note);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_arguments_are_written_with_waiting_events, ledger_setup,
						ledger_teardown),
		cmocka_unit_test_setup_teardown(test_failed_call_is_a_note, ledger_setup, ledger_teardown),
		cmocka_unit_test_setup_teardown(test_note_of_a_failed_call_is_not_cut, ledger_setup, ledger_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
