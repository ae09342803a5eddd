/* Tests a table of formats that lack some functions: some formats cannot be read, some cannot be written, some cannot
 * be written by the tracer. */
#include "config.h"
#include "analysis/trace_writer.h"
#include "export/export.h"
#include "postproc/postproc_options.h"
#include "trace/encoding_ops.h"
#include "trace_util.h"
#include "unit_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool detect_foreign(const unsigned char *data, size_t size)
{
	return size >= 4 && !memcmp(data, "FRGN", 4);
}

static int next_foreign(struct reader *reader, struct record *record)
{
	(void)reader, (void)record;
	return 0;
}

static const struct reader_ops foreign_reader = {.detect = detect_foreign, .next = next_foreign};

extern const struct writer_ops rtrace_writer_ops, text_writer_ops;
extern const struct reader_ops rtrace_reader_ops, text_reader_ops;

/* encodings[] replaces the table of src/trace/encoding_table.c. text_compat is the dialect of the format "text". */
static const struct encoding text_compat = {"text",           ".txt",          &text_writer_ops,
					    &text_reader_ops, ENCODING_STREAM, .is_compat = true};
const struct encoding encodings[] = {
	{"profile", ".profile", &text_writer_ops, NULL, 0, NULL, false},
	{"rtrace", ".rtrace", &rtrace_writer_ops, &rtrace_reader_ops, ENCODING_STREAM | ENCODING_COMPAT, NULL, false},
	{"text", ".txt", &text_writer_ops, &text_reader_ops, ENCODING_STREAM | ENCODING_COMPAT | ENCODING_NAMES,
	 &text_compat, false},
	{"stream", ".stream", &text_writer_ops, NULL, ENCODING_STREAM | ENCODING_SEVERAL_PROCESSES, NULL, false},
	{"foreign", ".foreign", NULL, &foreign_reader, 0, NULL, false},
};
const size_t encoding_count = ARRAY_SIZE(encodings);

static const struct encoding *const foreign = &encodings[4];

static void test_formats_are_listed_by_ability(void **state)
{
	assert_string_equal(encoding_names(0), "profile, rtrace, text, stream, foreign");
	assert_null(encoding_compat(encoding_find("stream")));
	assert_ptr_equal(encoding_compat(encoding_find("text")), &text_compat);
	assert_ptr_equal(encoding_compat(&text_compat), &text_compat);
	assert_true(encoding_can(&text_compat, ENCODING_MONOTONIC));
	assert_false(encoding_can(encoding_find("text"), ENCODING_MONOTONIC));
	assert_string_equal(encoding_names(ENCODING_READ), "rtrace, text, foreign");
	assert_string_equal(encoding_names(ENCODING_WRITE), "profile, rtrace, text, stream");
	assert_string_equal(encoding_names(ENCODING_TRACE), "rtrace, text, stream");
	assert_string_equal(encoding_names(ENCODING_TRACE | ENCODING_NAMES), "text");
	assert_string_equal(encoding_names(ENCODING_NAMES | ENCODING_SEVERAL_PROCESSES), "none");
	assert_ptr_equal(encoding_find("foreign"), foreign);
	assert_null(encoding_find("Foreign"));
	assert_true(encoding_can(foreign, ENCODING_READ));
	assert_false(encoding_can(foreign, ENCODING_READ | ENCODING_WRITE));
}

/* The format of an input is recognised although the table has formats without a reader. */
static void test_format_of_an_input_is_recognised(void **state)
{
	char error[512] = "";

	struct reader *reader = reader_new(memory_file("FRGN", 4), NULL, error, sizeof(error));

	assert_non_null(reader);
	assert_false(reader_is_compat(reader));
	reader_close(reader);
	assert_null(reader_new(memory_file("what", 4), NULL, error, sizeof(error)));
	assert_string_equal(error,
			    "the input is no trace of a known format: it begins with other text than a trace's header. "
			    "Formats are: rtrace, text, foreign");
}

static void test_format_without_reader_is_refused(void **state)
{
	const struct reader_options options = {.encoding = encoding_find("profile")};
	char error[512] = "";

	assert_null(reader_new(memory_file("FRGN", 4), &options, error, sizeof(error)));
	assert_string_equal(error, "traces in the format profile can only be written; the formats that can be read "
				   "are: rtrace, text, foreign");
}

/* Calls `run` in another process. Returns its exit status, and stores its output in `said`. */
static int status_of(void (*run)(const void *context), const void *context, struct buf *said)
{
	const int file = memory_file("", 0);
	const pid_t pid = fork();
	int status;

	if (!pid) {
		dup2(file, STDERR_FILENO);
		alarm(60);
		run(context);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	said->size = 0;
	read_all(file, said);
	close(file);
	return WEXITSTATUS(status);
}

static void write_records(const void *context)
{
	const char *const *choice = context;
	const struct output_options options = {.target = {.path = "/dev/null", .input = -1},
					       .encoding = encoding_find(choice[0])};
	struct stage *stage = output_new(&options);
	const struct record process = {.type = RECORD_PROCESS, .process = {.pid = 7, .has_pid = true}};
	int error = stage_put(stage, &process);

	if (!error && choice[1])
		error = stage_put(stage, &process);
	if (!error)
		error = stage_finish(stage);
	stage->free(stage);
	_exit(-error);
}

static void assert_writes(const char *format, const char *second, int error, const char *text)
{
	const char *const choice[] = {format, second};
	struct buf said = {0};

	assert_int_equal(status_of(write_records, choice, &said), error);
	assert_text(&said, text);
	buf_free(&said);
}

static void test_format_without_writer_is_refused(void **state)
{
	assert_null(writer_new(foreign, -1, NULL));
	assert_writes("foreign", NULL, ENOTSUP,
		      "functrace: the format foreign can only be read; the formats that can be written are profile, "
		      "rtrace, text, stream\n");
}

static void test_format_for_one_process_refuses_a_second(void **state)
{
	assert_writes("text", NULL, 0, "");
	assert_writes("stream", "twice", 0, "");
	assert_writes(
		"text", "twice", ENOTSUP,
		"functrace: the trace has several processes, and the format text can contain only one: choose one "
		"with --pid\n");
}

static void parse_options(const void *context)
{
	char words[4][32] = {"functrace-postproc"};
	char *argv[] = {words[0], words[1], words[2], words[3], NULL};
	const char *const *arguments = context;
	struct postproc_options options;
	int argc = 1;

	for (; arguments[argc - 1]; argc++)
		snprintf(words[argc], sizeof(words[argc]), "%s", arguments[argc - 1]);
	argv[argc] = NULL;
	program_invocation_name = program_invocation_short_name = words[0];
	postproc_options_parse(argc, argv, &options);
}

static void assert_postproc(int status, const char *said, const char *first, const char *second)
{
	const char *const arguments[] = {first, second ? second : "-", second ? "-" : NULL, NULL};
	struct buf got = {0};
	char line[1024] = "";

	/* Only the first line is compared, because argp writes the second one. */
	if (*said)
		snprintf(line, sizeof(line), "functrace-postproc: %s", said);
	assert_int_equal(status_of(parse_options, arguments, &got), status);
	((char *)(uintptr_t)buf_str(&got))[strcspn(buf_str(&got), "\n")] = '\0';
	assert_string_equal(buf_str(&got), line);
	buf_free(&got);
}

static void test_options_accept_only_usable_formats(void **state)
{
	char *const unknown = xasprintf(
		"there is no format 'nonsense'; the formats are profile, rtrace, text, stream, %s", export_names());

	assert_postproc(0, "", "-fprofile", NULL);
	assert_postproc(0, "", "--input-format=foreign", NULL);
	assert_postproc(0, "", "--compat", "-frtrace");
	assert_postproc(2, unknown, "-fnonsense", NULL);
	free(unknown);
	assert_postproc(2,
			"the format foreign can only be read; the formats that can be written are profile, rtrace, "
			"text, stream",
			"-fforeign", NULL);
	assert_postproc(
		2, "the format profile can only be written; the formats that can be read are rtrace, text, foreign",
		"--input-format=profile", NULL);
	assert_postproc(2, "the format stream has no sp-rtrace dialect; the formats that have one are rtrace, text",
			"--compat", "-fstream");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats_are_listed_by_ability),
		cmocka_unit_test(test_format_of_an_input_is_recognised),
		cmocka_unit_test(test_format_without_reader_is_refused),
		cmocka_unit_test(test_format_without_writer_is_refused),
		cmocka_unit_test(test_format_for_one_process_refuses_a_second),
		cmocka_unit_test(test_options_accept_only_usable_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
