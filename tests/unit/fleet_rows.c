/* Tests the rows of a watch, and their file: limits, full disks, and watches that are killed while they write. */
#include "config.h"
#include "unit_test.h"

#include "base/util.h"
#include "export/row_line.h"
#include "fleet/rows.h"
#include "fleet/watch_text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND   UINT64_C(1000000000)
#define NO_LIMIT (UINT64_C(1) << 40)

static char *folder, *path, *old_path;

static int enter_folder(void **state)
{
	const char *const parent = getenv("TMPDIR");

	folder = xasprintf("%s/fleet-rows-XXXXXX", parent && *parent ? parent : "/tmp");
	if (!mkdtemp(folder))
		return -1;
	path = xasprintf("%s/" ROWS_NAME, folder);
	old_path = xasprintf("%s/" ROWS_OLD_NAME, folder);
	return 0;
}

static int leave_folder(void **state)
{
	unlink(path);
	unlink(old_path);
	const int error = rmdir(folder);

	free(folder);
	free(path);
	free(old_path);
	return error;
}

static const struct watch_frame frames[] = {
	{.function = "zmalloc",
	 .file = "zmalloc.c",
	 .line = 7,
	 .object = "/bin/shop",
	 .build_id = "ab12",
	 .offset = 4096},
	{.function = "keep \"it\"\n\xff", .object = "/bin/shop", .build_id = "ab12", .offset = 8192},
	{.offset = UINT64_MAX},
};

static const struct watch_row stacks[] = {
	{
		.id = 0xabc,
		.frames = frames,
		.frame_count = ARRAY_SIZE(frames),
		.allocated = 1234567.8,
		.calls = 0.25,
		.estimate = {.live = 2e6,
			     .live_low = 1.5e6,
			     .live_high = 3e6,
			     .growth = -0.5,
			     .growth_low = -1,
			     .growth_high = 0,
			     .lost = 136,
			     .blocks = 17,
			     .samples = 5,
			     .verdict = WATCH_GROWING},
	},
	{.id = UINT64_MAX, .estimate = {.verdict = WATCH_FEW_WINDOWS}},
};

static struct watch_interval interval_at(uint64_t second)
{
	return (struct watch_interval){
		.host = "h1",
		.service = "shop",
		.program = "/bin/shop",
		.pid = 42,
		.process_start_ns = SECOND,
		.began_ns = 1772269500 * SECOND + 250000000,
		.begin_ns = 1772269500 * SECOND + second * SECOND,
		.end_ns = 1772269500 * SECOND + second * SECOND + 1,
		.way = "kernel",
		.cost = {.budget = 0.02, .target = 0.0125, .own = 0.001, .longest_ns = 4900000},
		.windows = 30,
		.looks = 29,
		.share = 0.1,
		.calls = 1000,
		.unseen = 1,
		.heap_bytes = 5e6,
		.heap_blocks = WATCH_UNKNOWN,
		.before = 1e6,
		.unattributed = 1e6,
		.lost = 200,
		.looked_ns = 1772269500 * SECOND,
		.rows = stacks,
		.count = ARRAY_SIZE(stacks),
		.stacks = 9,
	};
}

#define COMMON                                                                                                         \
	"\"host\":\"h1\",\"service\":\"shop\",\"program\":\"/bin/shop\",\"build_id\":null,\"pid\":42,"                 \
	"\"process_start\":\"1970-01-01T00:00:01.000000000Z\",\"watch_begin\":\"2026-02-28T09:05:00.250000000Z\","     \
	"\"interval_begin\":\"2026-02-28T09:05:01.000000000Z\",\"interval_end\":\"2026-02-28T09:05:01.000000001Z\","   \
	"\"kind\":\"memory\",\"way\":\"kernel\","
#define CERTAINTY "\"windows\":30,\"looks\":29,\"share\":0.1,"
#define COST      "\"cost_budget\":0.02,\"cost_target\":0.0125,\"cost_own\":0.001,\"cost_pause\":0.0049," LOOKS
#define LOOKS     "\"looked\":\"2026-02-28T09:05:00.000000000Z\",\"scanned\":null}\n"

static void test_rows_have_all_columns(void **state)
{
	const struct watch_interval interval = interval_at(1);
	struct buf text = {0};
	static const char first[] =
		"{\"scope\":\"stack\"," COMMON "\"function\":\"keep \\\"it\\\"\\u000a\xef\xbf\xbd\","
		"\"id\":\"0000000000000abc\",\"functions\":[\"zmalloc\",\"keep \\\"it\\\"\\u000a\xef\xbf\xbd\",null],"
		"\"files\":[\"zmalloc.c\",null,null],\"lines\":[7,null,null],"
		"\"objects\":[\"/bin/shop\",\"/bin/shop\",null],\"build_ids\":[\"ab12\",\"ab12\",null],"
		"\"offsets\":[4096,8192,18446744073709551615],\"allocated_rate\":1234568,\"call_rate\":0.25,"
		"\"live\":2000000,\"live_low\":1500000,\"live_high\":3000000,\"blocks\":17,"
		"\"growth\":-0.5,\"growth_low\":-1,\"growth_high\":0,\"lost\":136,\"verdict\":\"growing\","
		"\"samples\":5," CERTAINTY "\"heap_bytes\":null,\"heap_blocks\":null,\"before\":null,"
		"\"unattributed\":null,\"stacks\":null,\"calls_seen\":null,\"calls_unseen\":null," COST;
	static const char last[] =
		"{\"scope\":\"interval\"," COMMON "\"function\":null,\"id\":null,\"functions\":[],\"files\":[],"
		"\"lines\":[],\"objects\":[],\"build_ids\":[],\"offsets\":[],\"allocated_rate\":null,"
		"\"call_rate\":null,\"live\":null,\"live_low\":null,\"live_high\":null,\"blocks\":null,"
		"\"growth\":null,\"growth_low\":null,\"growth_high\":null,\"lost\":200,\"verdict\":null,"
		"\"samples\":null," CERTAINTY "\"heap_bytes\":5000000,\"heap_blocks\":null,\"before\":1000000,"
		"\"unattributed\":1000000,\"stacks\":9,\"calls_seen\":1000,\"calls_unseen\":1," COST;

	rows_add(&text, &interval);
	const char *const all = buf_str(&text);

	assert_memory_equal(all, first, strlen(first));
	assert_non_null(strstr(all, "\"id\":\"ffffffffffffffff\",\"functions\":[],"));
	assert_non_null(strstr(all, "\"verdict\":\"few windows\""));
	assert_string_equal(all + strlen(all) - strlen(last), last);
	buf_free(&text);
}

static void test_growth_that_is_not_resolved_is_unknown(void **state)
{
	const struct watch_row row = {.estimate = {.live = 7, .verdict = WATCH_UNRESOLVED}};
	struct watch_interval interval = interval_at(1);
	struct buf text = {0};

	interval.rows = &row;
	interval.count = 1;
	rows_add(&text, &interval);
	assert_non_null(strstr(buf_str(&text), "\"growth\":null,\"growth_low\":null,\"growth_high\":null,\"lost\":0"));
	text.size = 0;
	watch_text_add(&text, &interval, 1);
	assert_non_null(strstr(buf_str(&text), "; growth an hour: unknown\n   not resolvable"));
	text.size = 0;
	watch_text_add_line(&text, &interval);
	assert_non_null(strstr(buf_str(&text), "0 stacks grow, 1 not resolvable; 30 windows"));
	buf_free(&text);
}

static void test_the_text_has_the_times_of_looks_and_scans(void **state)
{
	struct watch_interval interval = interval_at(1);
	struct buf text = {0};

	setenv("TZ", "UTC0", 1);
	interval.scanned_ns = interval.looked_ns - UINT64_C(86400) * SECOND;
	watch_text_add(&text, &interval, 1);
	assert_non_null(strstr(buf_str(&text), "\nheap in use at 09:05:00: "));
	assert_non_null(strstr(buf_str(&text), " bytes, exactly, by the scan of 2026-02-27 09:05:00\n"));
	buf_free(&text);
}

static void test_without_a_scan_lost_bytes_are_unknown(void **state)
{
	struct watch_interval interval = interval_at(1);
	struct buf text = {0};

	interval.lost = WATCH_UNKNOWN;
	rows_add(&text, &interval);
	assert_null(strstr(buf_str(&text), "\"lost\":0"));
	assert_null(strstr(buf_str(&text), "\"lost\":136"));
	assert_non_null(strstr(buf_str(&text), "\"lost\":null"));
	interval.lost_reason = "the heap was not scanned yet";
	text.size = 0;
	watch_text_add(&text, &interval, 1);
	assert_non_null(strstr(buf_str(&text), "\nlost bytes: unknown: the heap was not scanned yet\n"));
	buf_free(&text);
}

static void test_ids_of_stacks_do_not_change(void **state)
{
	const struct watch_frame inlined[] = {frames[0], frames[0], frames[1], frames[2]};
	struct watch_frame moved[ARRAY_SIZE(frames)];

	/* The value is that of the definition in row_line.h, by another program. It must stay as it is, because rows of
	 * several versions of functrace are in one table. */
	assert_int_equal(row_stack_id(frames, ARRAY_SIZE(frames)), UINT64_C(0x38f887023653fdf7));
	assert_int_equal(row_stack_id(inlined, ARRAY_SIZE(inlined)), row_stack_id(frames, ARRAY_SIZE(frames)));
	/* An object with a build-id may have another path on another machine. */
	memcpy(moved, frames, sizeof(moved));
	moved[0].object = "/srv/shop";
	assert_int_equal(row_stack_id(moved, ARRAY_SIZE(moved)), row_stack_id(frames, ARRAY_SIZE(frames)));
	moved[1].offset++;
	assert_int_not_equal(row_stack_id(moved, ARRAY_SIZE(moved)), row_stack_id(frames, ARRAY_SIZE(frames)));
}

/* Checks that a file has only whole lines. Returns the number of lines of the scope "interval"; 0 without a file. */
static size_t count_intervals(const char *name)
{
	char *const text = read_file(name, 1u << 30, NULL);
	size_t count = 0;

	if (!text)
		return 0;
	for (char *line = text, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		assert_non_null(end);
		*end = '\0';
		assert_int_equal(strncmp(line, "{\"scope\":\"", 10), 0);
		assert_null(strstr(line + 1, "{\"scope"));
		assert_non_null(strstr(line, ",\"scanned\":null}"));
		count += !strncmp(line, "{\"scope\":\"interval\"", 19);
	}
	free(text);
	return count;
}

static struct rows_file *open_rows(uint64_t limit)
{
	struct rows_file *const file = rows_file_open(folder, limit);

	assert_non_null(file);
	return file;
}

static void append_some(struct rows_file *file, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct watch_interval interval = interval_at(i);

		assert_int_equal(rows_file_append(file, &interval), 0);
	}
}

static uint64_t size_of_file(const char *name)
{
	struct stat st = {0};

	assert_int_equal(stat(name, &st), 0);
	return (uint64_t)st.st_size;
}

static void test_a_half_line_is_removed(void **state)
{
	static const char *const halves[] = {"{\"scope\":\"stack\",\"ho", "{", ""};

	for (size_t i = 0; i < ARRAY_SIZE(halves); i++) {
		struct rows_file *file = open_rows(NO_LIMIT);

		append_some(file, 2);
		rows_file_close(file);
		FILE *const out = fopen(path, "a");

		fputs(halves[i], out);
		fclose(out);
		file = open_rows(NO_LIMIT);
		append_some(file, 1);
		rows_file_close(file);
		assert_int_equal(count_intervals(path), 3 * (i + 1));
	}
}

/* The half line of an interval with many stacks, or of hostile names, may be longer than what is read at once. */
static void test_a_long_half_line_is_removed(void **state)
{
	for (size_t lines = 0; lines < 2; lines++) {
		FILE *const out = fopen(path, "w");

		if (lines)
			fputs("{\"scope\":\"interval\",\"scanned\":null}\n", out);
		for (unsigned i = 0; i < 300000; i++)
			fputc('x', out);
		fclose(out);
		struct rows_file *const file = open_rows(NO_LIMIT);

		if (lines)
			assert_int_equal(size_of_file(path), 36);
		else
			assert_int_equal(size_of_file(path), 0);
		rows_file_close(file);
	}
}

static void test_one_older_file_is_kept(void **state)
{
	struct rows_file *file = open_rows(NO_LIMIT);
	struct stat st = {0};

	append_some(file, 1);
	const uint64_t size = size_of_file(path);

	rows_file_close(file);
	chmod(path, 0640);
	file = open_rows(3 * size + size / 2);
	append_some(file, 2);
	assert_int_equal(count_intervals(path), 3);
	assert_int_equal(count_intervals(old_path), 0);
	append_some(file, 1);
	assert_int_equal(count_intervals(path), 1);
	assert_int_equal(count_intervals(old_path), 3);
	/* The user's permission to read the file is kept. */
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	append_some(file, 4);
	assert_int_equal(count_intervals(path), 2);
	assert_int_equal(count_intervals(old_path), 3);
	rows_file_close(file);
	/* An interval that is larger than the limit has a file of its own. */
	file = open_rows(1);
	append_some(file, 2);
	assert_int_equal(count_intervals(path), 1);
	assert_int_equal(count_intervals(old_path), 1);
	rows_file_close(file);
}

static void test_a_renamed_or_removed_file_is_made_again(void **state)
{
	struct rows_file *const file = open_rows(NO_LIMIT);

	append_some(file, 1);
	assert_int_equal(rename(path, old_path), 0);
	append_some(file, 2);
	assert_int_equal(count_intervals(path), 2);
	assert_int_equal(unlink(path), 0);
	append_some(file, 1);
	assert_int_equal(count_intervals(path), 1);
	rows_file_close(file);
}

static void test_a_full_disk_loses_only_the_intervals_of_its_time(void **state)
{
	struct rows_file *const file = open_rows(NO_LIMIT);
	const struct watch_interval interval = interval_at(1);
	struct rlimit before, limit;

	append_some(file, 2);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_IGN);
	limit = before;
	limit.rlim_cur = size_of_file(path) + 100;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(rows_file_append(file, &interval), -EFBIG);
	assert_int_equal(rows_file_append(file, &interval), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(count_intervals(path), 2);
	append_some(file, 1);
	assert_int_equal(count_intervals(path), 3);
	rows_file_close(file);
}

static void test_other_files_are_not_written(void **state)
{
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_null(rows_file_open(folder, NO_LIMIT));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_null(rows_file_open(folder, NO_LIMIT));
	assert_int_equal(unlink(path), 0);
	assert_null(rows_file_open("/nonexistent", NO_LIMIT));
}

static void test_a_locked_file_is_not_waited_for_for_ever(void **state)
{
	struct rows_file *const file = open_rows(NO_LIMIT);
	const struct watch_interval interval = interval_at(1);
	const int fd = open(path, O_RDONLY);

	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(rows_file_append(file, &interval), -ETIMEDOUT);
	close(fd);
	assert_int_equal(rows_file_append(file, &interval), 0);
	assert_int_equal(count_intervals(path), 1);
	rows_file_close(file);
}

/* Appends intervals until it is killed; each has about 2 MB, so that a signal can arrive during the write. */
static void append_until_killed(void)
{
	static struct watch_row many[2000];
	struct rows_file *const file = open_rows(NO_LIMIT);
	struct watch_interval interval = interval_at(1);

	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = stacks[0];
	interval.rows = many;
	interval.count = ARRAY_SIZE(many);
	for (;;)
		rows_file_append(file, &interval);
}

static void test_sigkill_leaves_no_half_line_before_others(void **state)
{
	for (unsigned round = 0; round < 20; round++) {
		const pid_t child = fork();
		struct stat st = {0};

		if (!child)
			append_until_killed();
		/* The write of the second interval begins at some moment after the first one. */
		while (stat(path, &st) || st.st_size < 1000)
			usleep(200);
		usleep(round * 700);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		struct rows_file *const file = open_rows(NO_LIMIT);

		append_some(file, 1);
		rows_file_close(file);
		assert_true(count_intervals(path) >= 1);
		unlink(path);
	}
}

static void test_several_watches_write_to_one_folder(void **state)
{
	enum { WATCHES = 4, INTERVALS = 50 };
	struct rows_file *file = open_rows(NO_LIMIT);

	append_some(file, 1);
	const uint64_t size = size_of_file(path);

	rows_file_close(file);
	unlink(path);
	for (unsigned i = 0; i < WATCHES; i++)
		if (!fork()) {
			file = open_rows(WATCHES * INTERVALS * size * 2 / 3);
			append_some(file, INTERVALS);
			rows_file_close(file);
			_exit(0);
		}
	for (unsigned i = 0; i < WATCHES; i++) {
		int status = -1;

		wait(&status);
		assert_int_equal(status, 0);
	}
	assert_true(count_intervals(old_path) > 0);
	assert_int_equal(count_intervals(path) + count_intervals(old_path), WATCHES * INTERVALS);
}

#define ROWS_TEST(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_have_all_columns),
		cmocka_unit_test(test_growth_that_is_not_resolved_is_unknown),
		cmocka_unit_test(test_the_text_has_the_times_of_looks_and_scans),
		cmocka_unit_test(test_without_a_scan_lost_bytes_are_unknown),
		cmocka_unit_test(test_ids_of_stacks_do_not_change),
		ROWS_TEST(test_a_half_line_is_removed),
		ROWS_TEST(test_a_long_half_line_is_removed),
		ROWS_TEST(test_one_older_file_is_kept),
		ROWS_TEST(test_a_renamed_or_removed_file_is_made_again),
		ROWS_TEST(test_a_full_disk_loses_only_the_intervals_of_its_time),
		ROWS_TEST(test_other_files_are_not_written),
		ROWS_TEST(test_a_locked_file_is_not_waited_for_for_ever),
		ROWS_TEST(test_sigkill_leaves_no_half_line_before_others),
		ROWS_TEST(test_several_watches_write_to_one_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
