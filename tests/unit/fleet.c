/* Tests the outputs of a watch as a whole, and the text for people. */
#include "config.h"
#include "unit_test.h"

#include "base/util.h"
#include "engine/settings.h"
#include "fleet/fleet.h"
#include "fleet/watch_text.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder;

static int make_folder(void **state)
{
	const char *const parent = getenv("TMPDIR");

	folder = xasprintf("%s/fleet-XXXXXX", parent && *parent ? parent : "/tmp");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	const int error = rmdir(folder);

	free(folder);
	return error;
}

static struct watch_interval interval_of_process(pid_t pid)
{
	return (struct watch_interval){
		.host = "h1",
		.service = "shop",
		.program = "/usr/bin/shopd",
		.pid = pid,
		.way = "kernel",
		.heap_bytes = WATCH_UNKNOWN,
		.lost = WATCH_UNKNOWN,
	};
}

/* Directs standard error to a file; returns the former one. */
static int errors_into_file(FILE *file)
{
	const int old = dup(STDERR_FILENO);

	assert_true(old >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
	return old;
}

static void errors_to_former(int old)
{
	dup2(old, STDERR_FILENO);
	close(old);
}

/* Returns what was written to the file. The caller frees it. */
static char *text_of_file(FILE *file)
{
	const long size = lseek(fileno(file), 0, SEEK_END);
	char *const text = xcalloc((size_t)size + 1, 1);

	assert_int_equal(pread(fileno(file), text, (size_t)size, 0), size);
	return text;
}

struct delivery {
	void *outputs;
	pid_t pid;
};

static void *deliver_often(void *context)
{
	const struct delivery *const d = context;
	struct watch_interval interval = interval_of_process(d->pid);

	for (unsigned i = 0; i < 300; i++)
		fleet_outputs.deliver(d->outputs, &interval);
	return NULL;
}

/* one: replaces the file of metrics | other: finds another file than the one that it has noted */
static void test_processes_write_one_file_of_metrics(void **state)
{
	char *const path = xasprintf("%s/x.prom", folder);
	const struct settings set = {.watch = {.is_wanted = true, .metrics = path}, .trace.output_fd = -1};
	FILE *const said = tmpfile();
	const int old = errors_into_file(said);
	void *const outputs = fleet_outputs.open(&set);
	struct delivery deliveries[4];
	pthread_t threads[ARRAY_SIZE(deliveries)];

	for (size_t i = 0; outputs && i < ARRAY_SIZE(threads); i++) {
		deliveries[i] = (struct delivery){outputs, (pid_t)i + 1};
		pthread_create(&threads[i], NULL, deliver_often, &deliveries[i]);
	}
	for (size_t i = 0; outputs && i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	if (outputs)
		fleet_outputs.close(outputs);
	errors_to_former(old);
	char *const text = text_of_file(said);

	assert_non_null(outputs);
	assert_non_null(strstr(text, "shop (4)"));
	assert_null(strstr(text, "another program"));
	free(text);
	fclose(said);
	free(path);
}

static void test_results_that_cannot_be_written_are_a_warning(void **state)
{
	char *const missing = xasprintf("%s/missing", folder), *const rows = xasprintf("%s/rows.jsonl", missing);
	char *const expected = xasprintf("warning: %s/7.txt cannot be written", missing);
	const struct settings set = {.watch.is_wanted = true, .trace = {.output = missing, .output_fd = -1}};
	const struct watch_interval interval = interval_of_process(7);
	FILE *const said = tmpfile();
	const int old = errors_into_file(said);

	mkdir(missing, 0700);
	void *const outputs = fleet_outputs.open(&set);

	unlink(rows);
	rmdir(missing);
	if (outputs)
		fleet_outputs.deliver(outputs, &interval);
	if (outputs)
		fleet_outputs.close(outputs);
	errors_to_former(old);
	char *const text = text_of_file(said);

	assert_non_null(outputs);
	assert_non_null(strstr(text, expected));
	free(text);
	fclose(said);
	free(missing);
	free(rows);
	free(expected);
}

static const struct watch_frame text_frames[] = {
	{.function = "malloc", .object = "/usr/lib/libc.so.6"},
	{.function = "grow_list", .file = "/src/shop.c", .line = 14, .object = "/usr/bin/shopd"},
	{.function = "main", .file = "/src/shop.c", .line = 19, .object = "/usr/bin/shopd"},
};

/* Returns the line of a process with a stack that grows by one byte a second. The caller frees it. */
static char *line_of(const struct watch_frame *frames, size_t count)
{
	const struct watch_row row = {
		.frames = frames, .frame_count = count, .estimate = {.verdict = WATCH_GROWING, .growth = 1}};
	struct watch_interval interval = interval_of_process(7);
	struct buf text = {0};

	interval.heap_bytes = 3273 << 10;
	interval.lost = 3000;
	interval.rows = &row;
	interval.count = interval.stacks = 1;
	watch_text_add_line(&text, &interval);
	char *const line = xstrdup(buf_str(&text));

	buf_free(&text);
	return line;
}

static void test_the_line_has_units(void **state)
{
	char *const line = line_of(text_frames + 1, 2);

	assert_non_null(strstr(line, "shop (7): 3273 K bytes in use, 3000 bytes lost, 1 stack grows, most grow_list"));
	assert_non_null(strstr(line, " by 3600 bytes an hour; 0 windows"));
	free(line);
}

static void test_the_line_names_a_function_of_the_program(void **state)
{
	static const struct watch_frame frames[] = {
		{.function = "operator new(unsigned long)", .object = "/usr/lib/libstdc++.so.6"},
		{.function = "void std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> "
			     ">::_M_construct<char const*>(char const*, char const*, std::forward_iterator_tag)",
		 .object = "/usr/bin/shopd"},
		{.function =
			 "Shop::keep(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >)",
		 .file = "/src/shop.cpp",
		 .line = 8,
		 .object = "/usr/bin/shopd"},
	};
	char *const line = line_of(frames, ARRAY_SIZE(frames)), *const unnamed = line_of(NULL, 0);

	assert_non_null(strstr(line, ", most Shop::keep(std::string)  shop.cpp:8 by 3600 bytes"));
	assert_non_null(strstr(unnamed, ", most all stacks beyond the first 10,000 by 3600 bytes"));
	free(line);
	free(unnamed);
}

static void test_long_names_are_shortened(void **state)
{
	char name[3000] = "Shop::table<";

	while (strlen(name) < sizeof(name) - 100)
		strcat(name, "std::pair<int, long>, ");
	strcat(name, "int>::keep(int)");
	const struct watch_frame frame = {.function = name, .file = "shop.cpp", .line = 8};
	const struct watch_row row = {.frames = &frame, .frame_count = 1};
	struct watch_interval interval = interval_of_process(7);
	struct buf text = {0};

	interval.rows = &row;
	interval.count = interval.stacks = 1;
	watch_text_add(&text, &interval, 20);
	assert_non_null(strstr(buf_str(&text), "\n     Shop::table<...>::keep(int)  shop.cpp:8\n"));
	buf_free(&text);
}

static void test_the_head_begins_with_the_started_name(void **state)
{
	static const struct {
		const char *name, *program, *head;
	} cases[] = {
		{"redis-server", "/usr/bin/redis-check-rdb",
		 "redis-server (/usr/bin/redis-check-rdb) (7) on h1, service "},
		{"shopd", "/usr/bin/shopd (deleted)", "/usr/bin/shopd (deleted) (7) on h1, service "},
		{"shop", "/usr/bin/shopd", "shop (/usr/bin/shopd) (7) on h1, service "},
		{"shopd", "/usr/bin/shopd", "/usr/bin/shopd (7) on h1, service "},
		{NULL, "/usr/bin/shopd", "/usr/bin/shopd (7) on h1, service "},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct watch_interval interval = interval_of_process(7);
		struct buf text = {0};

		interval.program = cases[i].program;
		interval.started_name = cases[i].name;
		watch_text_add(&text, &interval, 20);
		assert_memory_equal(buf_str(&text), cases[i].head, strlen(cases[i].head));
		buf_free(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_line_has_units),
		cmocka_unit_test(test_the_line_names_a_function_of_the_program),
		cmocka_unit_test(test_long_names_are_shortened),
		cmocka_unit_test(test_the_head_begins_with_the_started_name),
		cmocka_unit_test_setup_teardown(test_processes_write_one_file_of_metrics, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_results_that_cannot_be_written_are_a_warning, make_folder,
						remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
