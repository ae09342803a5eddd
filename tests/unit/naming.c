/* Tests names that are found late: which records wait for them, and the order in which all records are written. A gate
 * replaces a file that does not answer. */
#include "config.h"
#include "ledger_util.h"
#include "base/timed.h"
#include "base/worker.h"
#include "record/trace_output.h"
#include "record/put_records.h"
#include "record/run.h"
#include "symbols/names/naming_worker.h"
#include "records.h"
#include "unit_test.h"

#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PATIENCE (UINT64_C(60) * 1000000000)

/* ---- A worker thread that waits at a gate ---- */

struct gate {
	struct worker_job job;
	int pipe[2];
};

static void wait_at(struct worker_job *job)
{
	char byte;

	if (read(((struct gate *)job)->pipe[0], &byte, 1) < 0)
		abort();
}

static void gate_free(struct worker_job *job)
{
	struct gate *const gate = (struct gate *)job;

	close(gate->pipe[0]);
	close(gate->pipe[1]);
	free(gate);
}

static struct gate *gate_shut(struct worker *worker)
{
	struct gate *const gate = calloc(1, sizeof(*gate));

	assert_int_equal(pipe(gate->pipe), 0);
	gate->job = (struct worker_job){.work = wait_at, .end = gate_free};
	worker_give(worker, &gate->job);
	return gate;
}

static void gate_open(struct worker *worker, struct gate *gate)
{
	assert_int_equal(write(gate->pipe[1], "", 1), 1);
	assert_true(worker_wait(worker, &gate->job, PATIENCE));
	worker_drop(worker, &gate->job);
}

/* ---- A trace with names ---- */

static uint64_t program_from, program_to;

static int find_program(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size, (void)context;
	program_from = info->dlpi_addr;
	for (size_t i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			program_to = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
	return 1; /* the program itself comes first */
}

static void add_program(const char *path)
{
	naming_add_object(trace->output.naming, &(struct record_object){program_from, program_to, path}, NULL);
}

static int setup(void **state)
{
	const struct writer_options options = {.namer = naming_lookup};
	struct writer_options named = options;
	char path[4096] = "";

	ledger_setup(state);
	dl_iterate_phdr(find_program, NULL);
	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	trace->run->naming.namer = namer_new();
	trace->output.naming = naming_new(trace->run->naming.namer);
	add_program(path);
	writer_close(trace->output.writer);
	close(trace->output.fd);
	trace->output.fd = memfd_create("trace", 0);
	named.namer_context = trace->output.naming;
	trace->output.writer = writer_new(settings.trace.encoding, trace->output.fd, &named);
	writer_put(trace->output.writer,
		   &(struct record){PROCESS_RECORD(.pid = 1, .has_pid = true, .no_timestamps = true)});
	writer_put(trace->output.writer,
		   &(struct record){.type = RECORD_RESOURCE, .resource = {1, 0, "memory", "memory"}});
	return 0;
}

static int teardown(void **state)
{
	naming_end(trace->output.naming);
	trace->output.naming = NULL;
	namer_end(trace->run->naming.namer);
	return ledger_teardown(state);
}

__attribute__((noinline)) static void one_function(void)
{
	__asm__ volatile("nop; nop; nop; nop");
}

__attribute__((noinline)) static void another_function(void)
{
	__asm__ volatile("nop; nop; nop; nop; nop");
}

#define IN(function) ((uint64_t)(uintptr_t)(function) + 2)

static void called_from(uint64_t size, uint64_t address)
{
	struct unwind_frame frame = {.pc = address};
	struct event e = event(MALLOC, 0x1000, size);

	e.frames = &frame;
	e.frame_count = 1;
	e.has_frames = true;
	output_call(trace, &e, CALL_ALLOC);
}

/* Fails unless the trace's calls and notes are the expected ones. A call is "SIZE:NAME", with the name of the function
 * in its first frame, or with "-". */
static void assert_written(const char *expected)
{
	static char text[1 << 16];
	char found[4096] = "", *size;

	writer_flush(trace->output.writer);
	const ssize_t got = pread(trace->output.fd, text, sizeof(text) - 1, 0);

	assert_true(got > 0);
	text[got] = '\0';
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if ((size = strstr(line, "malloc("))) {
			strncat(strcat(found, " "), size + 7, strcspn(size + 7, ")"));
		} else if (line[0] == '\t') {
			const char *const name = strstr(line, " in ");

			strcat(found, ":");
			strncat(found, name ? name + 4 : "-", name ? strcspn(name + 4, "(") : 1);
		} else if (!strncmp(line, "## note", 7)) {
			strcat(found, " note");
		}
	}
	assert_string_equal(found, expected);
}

static void note(void)
{
	output_note(trace, "note");
}

static void await_all_names(void)
{
	assert_true(naming_wait(trace->output.naming, PATIENCE));
	put_ready(trace);
}

/* ---- Tests ---- */

static void test_known_names_are_written_at_once(void **state)
{
	assert_true(naming_wait(trace->output.naming, PATIENCE));
	called_from(1, IN(one_function));
	await_all_names(); /* on a slow machine the answers come later */
	called_from(2, IN(one_function));
	assert_null(trace->output.deferred);
	note();
	assert_written(" 1:one_function 2:one_function note");
	assert_int_equal(trace->counts.unnamed_stacks, 0);
}

static void test_records_wait_for_late_names(void **state)
{
	struct gate *const gate = gate_shut(namer_worker(trace->run->naming.namer));

	called_from(1, IN(one_function));
	note();
	called_from(2, IN(another_function));
	called_from(3, IN(one_function));
	put_ready(trace);
	assert_written("");
	gate_open(namer_worker(trace->run->naming.namer), gate);
	await_all_names();
	assert_written(" 1:one_function note 2:another_function 3:one_function");
	assert_null(trace->output.deferred);
	assert_int_equal(trace->counts.unnamed_stacks, 0);
}

/*	tracer: call 1, asks | another object | call 2, asks | the answers
 * Each call is named by the object that was mapped when the call was made. */
static void test_calls_are_named_by_the_object_of_their_time(void **state)
{
	struct gate *const gate = gate_shut(namer_worker(trace->run->naming.namer));

	called_from(1, IN(one_function));
	add_program("/nowhere");
	called_from(2, IN(one_function));
	gate_open(namer_worker(trace->run->naming.namer), gate);
	await_all_names();
	called_from(3, IN(one_function));
	assert_written(" 1:one_function 2:- 3:-");
}

/* functrace must free its entry of an object that is no longer mapped, even if the program maps no further object, for
 * example because the program generates its code itself. */
static void test_dropped_objects_are_freed(void **state)
{
	struct gate *const gate = gate_shut(namer_worker(trace->run->naming.namer));

	called_from(1, IN(one_function));
	add_program("/nowhere");
	called_from(2, IN(another_function));
	assert_int_equal(naming_gone(trace->output.naming), 1); /* the entry that call 1 uses */
	gate_open(namer_worker(trace->run->naming.namer), gate);
	await_all_names();
	note();
	assert_int_equal(naming_gone(trace->output.naming), 0);
	assert_written(" 1:one_function 2:- note");
}

static void test_records_without_room_are_written_unnamed(void **state)
{
	struct gate *const gate = gate_shut(namer_worker(trace->run->naming.namer));
	uint64_t calls = 0;

	while (!trace->counts.unnamed_stacks && calls < 1000000)
		called_from(++calls, IN(one_function));
	assert_int_equal(trace->counts.unnamed_stacks, calls); /* all calls that waited, and the one without room */
	assert_null(trace->output.deferred);
	called_from(1, IN(one_function));
	called_from(2, IN(another_function));
	gate_open(namer_worker(trace->run->naming.namer), gate);
	await_all_names();
	assert_int_equal(trace->counts.unnamed_stacks, calls);
}

static void test_end_of_the_trace_does_not_wait_for_names(void **state)
{
	struct gate *const gate = gate_shut(namer_worker(trace->run->naming.namer));

	called_from(1, IN(one_function));
	note();
	put_finish(trace, true);
	assert_null(trace->output.deferred);
	assert_written(" 1:- note");
	assert_int_equal(trace->counts.unnamed_stacks, 1);
	assert_int_equal(trace->run->naming.late_ends, 1);
	gate_open(namer_worker(trace->run->naming.namer), gate);
	assert_true(naming_wait(trace->output.naming, PATIENCE));
	called_from(2, IN(one_function));
	assert_written(" 1:- note 2:one_function");
	put_finish(trace, true);
}

/* Records that have waited for a baseline wait for names afterwards. */
static void test_names_are_awaited_after_a_baseline(void **state)
{
	struct gate *const gate = gate_shut(namer_worker(trace->run->naming.namer));

	put_defer(trace);
	called_from(1, IN(one_function));
	put_undefer(trace);
	assert_false(put_is_deferring(trace));
	assert_non_null(trace->output.deferred);
	called_from(2, IN(one_function));
	assert_written("");
	gate_open(namer_worker(trace->run->naming.namer), gate);
	await_all_names();
	assert_written(" 1:one_function 2:one_function");
}

/* call 1, whose names are looked up | a scan begins | call 2 | the scan's records | the names are known. The trace must
 * have call 1, the scan's records, call 2, because a scan knows only blocks that were allocated before it began. */
static void test_records_of_a_scan_wait_for_earlier_names(void **state)
{
	struct gate *const gate = gate_shut(namer_worker(trace->run->naming.namer));

	called_from(1, IN(one_function));
	put_defer(trace);
	called_from(2, IN(another_function));
	put_record_now(trace, &(struct record){.type = RECORD_NOTE, .note = {"note"}});
	put_record_now(trace, &(struct record){.type = RECORD_NOTE, .note = {"note 2"}});
	assert_written("");
	gate_open(namer_worker(trace->run->naming.namer), gate);
	await_all_names();
	assert_written(" 1:one_function note note");
	put_record_now(trace, &(struct record){.type = RECORD_NOTE, .note = {"note 3"}});
	put_undefer(trace);
	assert_written(" 1:one_function note note note 2:another_function");
	assert_null(trace->output.deferred);
}

/* The trace ends while its names are still looked up. The worker frees the trace's data. */
static void test_worker_frees_the_data_of_an_ended_trace(void **state)
{
	struct gate *const gate = gate_shut(namer_worker(trace->run->naming.namer));

	called_from(1, IN(one_function));
	put_finish(trace, true);
	naming_end(trace->output.naming);
	trace->output.naming = naming_new(trace->run->naming.namer);
	gate_open(namer_worker(trace->run->naming.namer), gate);
}

/* ---- Work with a time limit ---- */

struct slow {
	int go[2];
	atomic_bool *has_ended;
	bool is_done;
};

static void wait_for_go(void *context)
{
	struct slow *const slow = context;
	char byte;

	slow->is_done = read(slow->go[0], &byte, 1) == 1;
}

static void slow_free(void *context)
{
	struct slow *const slow = context;

	close(slow->go[0]);
	atomic_store(slow->has_ended, true);
	free(slow);
}

static struct slow *slow_new(atomic_bool *has_ended)
{
	struct slow *const slow = calloc(1, sizeof(*slow));

	slow->has_ended = has_ended;
	assert_int_equal(pipe(slow->go), 0);
	return slow;
}

static void test_unanswered_work_is_limited(void **state)
{
	enum { MANY = 12 };
	atomic_bool has_ended[MANY] = {false};
	int gates[MANY];
	atomic_bool last = false;

	timed_begin(NULL);
	timed_hold(true);
	for (size_t i = 0; i < MANY; i++) {
		struct slow *const slow = slow_new(&has_ended[i]);

		gates[i] = slow->go[1];
		assert_false(timed_do(wait_for_go, slow_free, slow));
	}
	/* MANY files do not answer: more than functrace reads at a time. It does not begin to read the last ones. */
	assert_false(atomic_load(&has_ended[0]));
	assert_true(atomic_load(&has_ended[MANY - 1]));
	for (size_t i = 0; i < MANY; i++) {
		if (!atomic_load(&has_ended[i]))
			assert_int_equal(write(gates[i], "", 1), 1);
		for (unsigned naps = 0; !atomic_load(&has_ended[i]) && naps < 60000; naps++)
			usleep(1000);
		assert_true(atomic_load(&has_ended[i]));
		close(gates[i]);
	}
	timed_hold(false);
	struct slow *const slow = slow_new(&last);

	assert_int_equal(write(slow->go[1], "", 1), 1);
	assert_true(timed_do(wait_for_go, slow_free, slow));
	assert_true(slow->is_done);
	close(slow->go[1]);
	slow_free(slow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_known_names_are_written_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_records_wait_for_late_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_calls_are_named_by_the_object_of_their_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dropped_objects_are_freed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_records_without_room_are_written_unnamed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_end_of_the_trace_does_not_wait_for_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names_are_awaited_after_a_baseline, setup, teardown),
		cmocka_unit_test_setup_teardown(test_records_of_a_scan_wait_for_earlier_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_worker_frees_the_data_of_an_ended_trace, setup, teardown),
		cmocka_unit_test(test_unanswered_work_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
