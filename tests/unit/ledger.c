/* The order in which releases and allocations may be written: the races of two threads, played by hand. */
#include "config.h"
#include "tracer/model.h"
#include "engine/board.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

static const struct module *const memory_only[] = {&module_memory};
static struct settings settings;
static struct tracer tracer;
static struct engine engine = {.tick_wanted = true}; /* nobody is to be woken */
static struct process *process;
static struct wanted kinds[4];
static struct probe probes[4];
enum { MALLOC, FREE, REALLOC, NEW };

static const struct function functions[] = {
	[MALLOC] = {.symbol = "malloc", .role = ROLE_ALLOC, .family = "malloc"},
	[FREE] = {.symbol = "free", .role = ROLE_RELEASE, .family = "malloc"},
	[REALLOC] = {.symbol = "realloc", .role = ROLE_REALLOC, .can_fail = true, .family = "malloc"},
	[NEW] = {.symbol = "new", .role = ROLE_ALLOC, .family = "new"},
};

static int setup(void **state)
{
	settings = (struct settings){
		.modules = (const struct module **)memory_only, .module_count = 1, .encoding = encoding_find("text")};
	tracer = (struct tracer){.set = &settings, .engine = &engine};
	process = calloc(1, sizeof(*process));
	process->tracer = &tracer;
	process->next_index = 1;
	process->trace_fd = memfd_create("trace", 0);
	ledger_init(process);
	const struct writer_options options = {0};

	process->writer = writer_new(settings.encoding, process->trace_fd, &options);
	for (size_t i = 0; i < 4; i++) {
		kinds[i] = (struct wanted){.function = &functions[i], .resource = 1, .symbol = functions[i].symbol};
		probes[i] = (struct probe){.wanted = &kinds[i], .shown = functions[i].symbol};
	}
	writer_put(process->writer, &(struct record){.type = RECORD_PROCESS,
						     .process = {.pid = 1, .has_pid = true, .no_timestamps = true}});
	writer_put(process->writer, &(struct record){.type = RECORD_RESOURCE, .resource = {1, 0, "memory", "memory"}});
	(void)state;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	writer_close(process->writer);
	close(process->trace_fd);
	ledger_free(process);
	free(process);
	return 0;
}

static struct event event(int kind, uint64_t id, uint64_t size)
{
	return (struct event){.probe = &probes[kind], .id = id, .size = size, .time_ns = TIME_NONE};
}

static void allocated(int kind, uint64_t id, uint64_t size)
{
	const struct event e = event(kind, id, size);

	ledger_allocated(process, &e);
}

static void released(uint64_t id)
{
	const struct event e = event(FREE, id, 0);

	ledger_released(process, &e);
}

/* The call lines of the trace, without index and blank lines. */
static void assert_trace(const char *expected)
{
	char text[4096], calls[4096] = "";

	writer_flush(process->writer);
	const ssize_t size = pread(process->trace_fd, text, sizeof(text) - 1, 0);

	assert_true(size > 0);
	text[size] = '\0';
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char *name = strstr(line, ". ");

		if (line[0] >= '0' && line[0] <= '9' && name)
			strcat(strcat(calls, name + 2), "\n");
	}
	assert_string_equal(calls, expected);
}

static void test_plain(void **state)
{

	(void)state;
	allocated(MALLOC, 0x10, 5);
	allocated(MALLOC, 0x20, 7);
	released(0x10);
	assert_int_equal(ledger_live(process).blocks, 1);
	assert_int_equal(ledger_live(process).bytes, 7);
	assert_int_equal(process->counts.unknown_releases, 0);
	assert_trace("malloc(5) = 0x10\nmalloc(7) = 0x20\nfree(0x10)\n");
}

/* A: realloc(p) enters | A frees p inside | B: malloc() = p | A: realloc returns q. */
static void test_realloc_overtaken(void **state)
{
	(void)state;
	allocated(MALLOC, 0x10, 5);
	struct call a = {.probe = &probes[REALLOC], .time_ns = TIME_NONE};

	ledger_reserve(process, &a, 0x10);
	allocated(MALLOC, 0x10, 9); /* proves that A's realloc has succeeded */
	assert_false(a.reserved);
	allocated(REALLOC, 0x30, 50);
	assert_trace("malloc(5) = 0x10\nrealloc(0x10)\nmalloc(9) = 0x10\nrealloc(50) = 0x30\n");
}

/* A failed realloc releases nothing. */
static void test_realloc_fails(void **state)
{

	(void)state;
	allocated(MALLOC, 0x10, 5);
	struct call a = {.probe = &probes[REALLOC], .time_ns = TIME_NONE};

	ledger_reserve(process, &a, 0x10);
	ledger_withdraw(process, &a);
	allocated(MALLOC, 0x20, 6);
	assert_int_equal(ledger_live(process).blocks, 2);
	assert_trace("malloc(5) = 0x10\nmalloc(6) = 0x20\n");
}

/* An inner release by the same task is proof as well; another task's is not. */
static void test_inner_release(void **state)
{
	struct task mine = {.tid = 1}, other = {.tid = 2};

	(void)state;
	allocated(MALLOC, 0x10, 5);
	struct call a = {.probe = &probes[REALLOC], .task = &mine, .time_ns = TIME_NONE};

	mine.name_known = other.name_known = true;
	ledger_reserve(process, &a, 0x10);
	ledger_entered_release(process, &other, 0x10, true);
	assert_true(a.reserved);
	ledger_entered_release(process, &mine, 0x10, true);
	assert_false(a.reserved);
	assert_trace("malloc(5) = 0x10\nrealloc(0x10)\n");
}

/* A release of its own while one is reserved: the reserving call has been left by a longjmp. Its reservation must
 * not be taken for a release when the address is given out again. */
static void test_left_reservation(void **state)
{
	struct task mine = {.tid = 1, .name_known = true};

	(void)state;
	allocated(MALLOC, 0x10, 5);
	struct call a = {.probe = &probes[REALLOC], .task = &mine, .time_ns = TIME_NONE};
	struct call b = a;

	ledger_reserve(process, &a, 0x10);
	ledger_entered_release(process, &mine, 0x10, false);
	assert_false(a.reserved);
	released(0x10);
	allocated(MALLOC, 0x10, 6);
	/* Left again, and tried again. */
	ledger_reserve(process, &a, 0x10);
	ledger_reserve(process, &b, 0x10);
	assert_false(a.reserved);
	ledger_commit(process, &b);
	allocated(MALLOC, 0x10, 7);
	assert_int_equal(ledger_live(process).blocks, 1);
	assert_int_equal(ledger_live(process).bytes, 7);
	assert_trace("malloc(5) = 0x10\nfree(0x10)\nmalloc(6) = 0x10\nrealloc(0x10)\nmalloc(7) = 0x10\n");
}

/* Two that cross: A: realloc(p) | B: realloc(q) | A returns q | B returns p. */
static void test_crossing(void **state)
{
	(void)state;
	allocated(MALLOC, 0x10, 1);
	allocated(MALLOC, 0x20, 2);
	struct call a = {.probe = &probes[REALLOC], .time_ns = TIME_NONE};
	struct call b = {.probe = &probes[REALLOC], .time_ns = TIME_NONE};

	ledger_reserve(process, &a, 0x10);
	ledger_reserve(process, &b, 0x20);
	ledger_commit(process, &a); /* A's own return */
	allocated(REALLOC, 0x20, 3);
	assert_false(b.reserved);
	allocated(REALLOC, 0x10, 4);
	assert_trace(
		"malloc(1) = 0x10\nmalloc(2) = 0x20\nrealloc(0x10)\nrealloc(0x20)\nrealloc(3) = 0x20\nrealloc(4) = 0x10\n");
}

/* posix_memalign writes its pointer before it returns: another thread may free it in between. */
static void test_published_early(void **state)
{

	(void)state;
	process->publishers = 1;
	struct task task = {.tid = 3, .name_known = true};
	struct event e = event(FREE, 0x40, 0);

	e.task = &task;
	ledger_released(process, &e);
	assert_trace("");
	allocated(MALLOC, 0x40, 64);
	process->publishers = 0;
	ledger_publisher_done(process);
	assert_int_equal(ledger_live(process).blocks, 0);
	assert_int_equal(process->counts.unknown_releases, 0);
	assert_trace("malloc(64) = 0x40\nfree(0x40)\n");
}

static void test_unknown_and_mismatched(void **state)
{
	(void)state;
	released(0x50);
	assert_int_equal(process->counts.unknown_releases, 1);
	allocated(NEW, 0x60, 8);
	released(0x60);
	assert_int_equal(process->counts.mismatched, 1);
	assert_trace("free(0x50)\nnew(8) = 0x60\nfree(0x60)\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_plain, setup, teardown),
		cmocka_unit_test_setup_teardown(test_realloc_overtaken, setup, teardown),
		cmocka_unit_test_setup_teardown(test_realloc_fails, setup, teardown),
		cmocka_unit_test_setup_teardown(test_inner_release, setup, teardown),
		cmocka_unit_test_setup_teardown(test_left_reservation, setup, teardown),
		cmocka_unit_test_setup_teardown(test_crossing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_published_early, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown_and_mismatched, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
