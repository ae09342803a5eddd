/* Tests the exact text of arguments and results that modules' tables describe, on each processor. */
#include "config.h"
#include "args_util.h"

#include <errno.h>

/* Returns the text of one parameter with that value. */
static const char *param_text(struct fake_task *task, const struct param *param, uint64_t value)
{
	static struct function row;
	struct args_plan *plan;

	row = (struct function){.params = {*param}};
	plan = args_plan_of_row(task->arch, &row, false);
	assert_non_null(plan);
	fake_argument(task, 0, value);
	fake_entry(task, plan);
	args_plan_free(plan);
	assert_int_equal(task->list->count, 1);
	assert_string_equal(task->list->items[0].name, param->name);
	return task->list->items[0].value;
}

static const char *type_text(struct fake_task *task, unsigned type, uint64_t value)
{
	return param_text(task, &(struct param){.name = "x", .type = (unsigned char)type}, value);
}

static void test_numbers_are_shown_by_type(void **state)
{
	static const struct {
		unsigned type;
		uint64_t value;
		const char *text;
	} rows[] = {
		{PARAM_INT, JUNK | 42, "42"},
		{PARAM_INT, JUNK | 0xffffffff, "-1"},
		{PARAM_UINT, JUNK | 0xffffffff, "4294967295"},
		{PARAM_HEX, JUNK | 0xff, "0xff"},
		{PARAM_HEX, 0, "0"},
		{PARAM_SIZE, 4096, "4096"},
		{PARAM_LONG, UINT64_MAX, "-1"},
		{PARAM_POINTER, 0x1234, "0x1234"},
		{PARAM_POINTER, 0, "NULL"},
		{PARAM_OCTAL, JUNK | 0644, "0644"},
		{PARAM_OCTAL, JUNK, "0"},
		{PARAM_BOOL, JUNK | 0x100, "false"},
		{PARAM_BOOL, JUNK | 0x101, "true"},
		{PARAM_INT8, JUNK | 0xfff, "-1"},
		{PARAM_UINT8, JUNK | 0xfff, "255"},
		{PARAM_INT16, JUNK | 0xfffff, "-1"},
		{PARAM_UINT16, JUNK | 0xfffff, "65535"},
		{PARAM_CHAR, JUNK | 0x100 | 'a', "'a'"},
		{PARAM_CHAR, '\n', "'\\n'"},
		{PARAM_CHAR, '\'', "'\\''"},
		{PARAM_WCHAR, JUNK | 0xe9, "L'\xc3\xa9'"},
		{PARAM_HEX_LONG, 0xfeed, "0xfeed"},
		{PARAM_ERROR, JUNK, "0"},
		{PARAM_ERROR, JUNK | EINVAL, "EINVAL"},
		{PARAM_ERROR, 999, "999"},
		{PARAM_FUNCTION, 0x401136, "0x401136 <compare>"},
		{PARAM_FUNCTION, 0x401137, "0x401137"},
		{PARAM_FUNCTION, 0, "NULL"},
		{PARAM_WORD, 7, "0x7"},
		{PARAM_FLAGS, 0, "0"},
		{PARAM_FLAGS, 0x30, "0x30"},
		{PARAM_FLAGS_MODE, 0644, "0644"},
		{250, 0x1234, "0x1234"},
	};
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		fake_begin(&task, arch);
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
			assert_text(type_text(&task, rows[i].type, rows[i].value), rows[i].text);
			/* The arguments of i386 are on the stack, which is read once. */
			assert_int_equal(task.reads, arch->convention.argument_registers ? 0 : 1);
		}
		fake_end(&task);
	}
}

static void test_strings_are_escaped_and_limited(void **state)
{
	static const char page[] = "/etc/passwd\0a\"b\\c\n\x01"
				   "2\x7f\xc3\xa9\xff\0"
				   "0123456789abcdef\0"
				   "0123456789abcdefg\0endless";
	static const uint32_t wide[] = {'w', 0xe9, 0x1f600, 0x85, 0};
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		fake_begin(&task, arch);
		fake_memory(&task, TEXT_AT, page, sizeof(page) - 1);
		fake_memory(&task, 0x20000, wide, sizeof(wide));
		assert_text(type_text(&task, PARAM_STRING, 0), "NULL");
		assert_text(type_text(&task, PARAM_STRING, WILD), "0x66660000 (unreadable)");
		assert_text(type_text(&task, PARAM_STRING, TEXT_AT), "\"/etc/passwd\"");
		assert_text(type_text(&task, PARAM_STRING, TEXT_AT + 12), "\"a\\\"b\\\\c\\n\\x012\\x7f\xc3\xa9\\xff\"");
		assert_text(type_text(&task, PARAM_STRING, TEXT_AT + 25), "\"0123456789abcdef\"");
		assert_text(type_text(&task, PARAM_STRING, TEXT_AT + 42), "\"0123456789abcdef\"...");
		assert_text(type_text(&task, PARAM_STRING, TEXT_AT + 60), "\"endless\"... (unreadable)");
		assert_text(type_text(&task, PARAM_STRING, TEXT_AT + 11), "\"\"");
		assert_text(type_text(&task, PARAM_WIDE, 0x20000), "L\"w\xc3\xa9\xf0\x9f\x98\x80\\u0085\"");
		assert_text(type_text(&task, PARAM_WIDE, 0x20000 + sizeof(wide) - 3), "0x20011 (unreadable)");
		assert_int_equal(task.reads, 1 + !arch->convention.argument_registers);
		fake_end(&task);
	}
}

static const struct param_word dirfd[] = {{.name = "AT_FDCWD", .value = (uint64_t)-100}, {0}};
static const struct param_word open_flags[] = {{.name = "O_WRONLY", .value = 1, .mask = 3},
					       {.name = "O_RDWR", .value = 2, .mask = 3},
					       {.name = "O_RDONLY", .value = 0, .mask = 3},
					       {.name = "O_CREAT", .value = 0100},
					       {.name = "O_SYNC", .value = 04010000},
					       {.name = "O_DSYNC", .value = 010000},
					       {0}};
static const struct function openat_row = {.params = {{"dirfd", PARAM_INT, .words = dirfd},
						      {"pathname", PARAM_STRING},
						      {"flags", PARAM_FLAGS, .words = open_flags},
						      {"mode", PARAM_OCTAL, .with = 2, .needs = 0100}},
					   .returns = {"return", PARAM_INT},
					   .result = TYPE_INT,
					   .success = OK_NOT_MINUS_1,
					   .sets_errno = true};

static void test_openat_shows_flags_mode_and_errno(void **state)
{
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		fake_begin(&task, arch);
		fake_memory(&task, TEXT_AT, "/tmp/x", 7);
		assert_text(ENTRY(&openat_row, JUNK | (uint32_t)-100, TEXT_AT, JUNK | 0101, JUNK | 0644),
			    "dirfd=AT_FDCWD, pathname=\"/tmp/x\", flags=O_WRONLY|O_CREAT, mode=0644");
		assert_text(fake_leave_row(&task, &openat_row, JUNK | 3, false), "return=3");
		task.has_error = true;
		task.error = ENOENT;
		assert_text(fake_leave_row(&task, &openat_row, JUNK | 0xffffffff, true), "return=-1, errno=ENOENT");
		task.error = 4000;
		assert_text(fake_leave_row(&task, &openat_row, JUNK | 0xffffffff, true), "return=-1, errno=4000");
		/* A success has no errno, and an unknown errno is not shown. */
		assert_text(fake_leave_row(&task, &openat_row, 3, false), "return=3");
		task.has_error = false;
		assert_text(fake_leave_row(&task, &openat_row, JUNK | 0xffffffff, true), "return=-1");
		assert_text(ENTRY(&openat_row, 5, 0, JUNK, 1), "dirfd=5, pathname=NULL, flags=O_RDONLY");
		assert_text(ENTRY(&openat_row, 5, 0, 2, 1), "dirfd=5, pathname=NULL, flags=O_RDWR");
		assert_text(ENTRY(&openat_row, 5, 0, 04010003, 1), "dirfd=5, pathname=NULL, flags=O_SYNC|0x3");
		assert_text(ENTRY(&openat_row, 5, 0, 0x40010000, 1),
			    "dirfd=5, pathname=NULL, flags=O_RDONLY|0x40010000");
		assert_text(ENTRY(&openat_row, 5, 0, 010001, 1), "dirfd=5, pathname=NULL, flags=O_WRONLY|O_DSYNC");
		fake_end(&task);
	}
}

static void test_values_are_shown_as_words(void **state)
{
	static const struct param_word words[] = {{.name = "ELSEWHERE", .value = 1, .on = 0xf0},
						  {.name = "ONE", .value = 1, .on = 0xf},
						  {.name = "MINUS", .value = UINT64_MAX},
						  {.name = "HIGH", .value = 0x40, .mask = 0xf0},
						  {0}};
	static const struct param_word none[] = {{.name = "PROT_NONE"}, {.name = "PROT_READ", .value = 1}, {0}};
	static const struct param_word failed[] = {{.name = "MAP_FAILED", .value = UINT64_MAX}, {0}};
	const struct param word = {"x", PARAM_WORD, .words = words}, number = {"x", PARAM_INT, .words = words},
			   address = {"x", PARAM_POINTER, .words = failed}, bits = {"x", PARAM_FLAGS, .words = none},
			   mode = {"x", PARAM_FLAGS_MODE, .words = none};
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		fake_begin(&task, arch);
		assert_text(param_text(&task, &word, JUNK | 1), "ONE");
		assert_text(param_text(&task, &word, JUNK | 0xffffffff), "MINUS");
		assert_text(param_text(&task, &word, 0x47), "HIGH");
		assert_text(param_text(&task, &word, 8), "0x8");
		assert_text(param_text(&task, &number, 8), "8");
		assert_text(param_text(&task, &number, 1), "ONE");
		assert_text(param_text(&task, &address, UINT64_MAX), "MAP_FAILED");
		assert_text(param_text(&task, &address, 0x1000), "0x1000");
		assert_text(param_text(&task, &bits, 0), "PROT_NONE");
		assert_text(param_text(&task, &bits, 3), "PROT_READ|0x2");
		assert_text(param_text(&task, &mode, 0601), "PROT_READ|0600");
		fake_end(&task);
	}
}

static void test_type_depends_on_another_parameter(void **state)
{
	static const struct param_word commands[] = {{.name = "F_SETFD", .value = 2}, {0}};
	static const struct param_word bits[] = {{.name = "FD_CLOEXEC", .value = 1}, {0}};
	static const struct param_case cases[] = {{.value = 1, .type = PARAM_NONE},
						  {.value = 2, .type = PARAM_FLAGS, .words = bits},
						  {.value = 4, .mask = ~3u, .type = PARAM_POINTER},
						  {.value = 0xffffffff, .type = PARAM_BOOL},
						  {0}};
	static const struct function row = {.params = {{"fd", PARAM_INT},
						       {"cmd", PARAM_INT, .words = commands},
						       {"arg", PARAM_INT, .with = 1, .cases = cases}}};
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		fake_begin(&task, arch);
		assert_text(ENTRY(&row, 3, JUNK | 1, 9), "fd=3, cmd=1");
		assert_text(ENTRY(&row, 3, JUNK | 2, 1), "fd=3, cmd=F_SETFD, arg=FD_CLOEXEC");
		assert_text(ENTRY(&row, 3, 5, 0x7ffe00112233),
			    arch->pointer_size == 8 ? "fd=3, cmd=5, arg=0x7ffe00112233" : "fd=3, cmd=5, arg=0x112233");
		assert_text(ENTRY(&row, 3, 99, JUNK | 0xffffffff), "fd=3, cmd=99, arg=-1");
		assert_text(ENTRY(&row, 3, JUNK | 0xffffffff, 1), "fd=3, cmd=-1, arg=true");
		assert_text(fake_leave_row(&task, &row, 7, false), "");
		fake_end(&task);
	}
}

/* One function has seven arguments, some of them on the stack except on AArch64. Another has an argument of 64 bits: in
 * an even pair of registers on ARM, in two words on i386. */
static void test_arguments_are_read_from_registers_and_stack(void **state)
{
	static const struct function seven = {.params = {{"a", PARAM_INT},
							 {"b", PARAM_INT},
							 {"c", PARAM_INT},
							 {"d", PARAM_INT},
							 {"e", PARAM_INT},
							 {"f", PARAM_INT},
							 {"g", PARAM_INT}}};
	static const struct function offset = {
		.params = {{"fd", PARAM_INT}, {"offset", PARAM_INT64}, {"whence", PARAM_INT}}};
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		fake_begin(&task, arch);
		assert_text(ENTRY(&seven, 1, 2, 3, 4, 5, 6, JUNK | 7), "a=1, b=2, c=3, d=4, e=5, f=6, g=7");
		assert_int_equal(task.reads, arch->convention.argument_registers < 7);
		if (arch->pointer_size == 8)
			ENTRY(&offset, 3, (uint64_t)-5, 2);
		else if (arch->convention.argument_registers)
			ENTRY(&offset, 3, 99, (uint32_t)-5, UINT32_MAX, 2);
		else
			ENTRY(&offset, 3, (uint32_t)-5, UINT32_MAX, 2);
		assert_text(task.text, "fd=3, offset=-5, whence=2");
		/* The stack ends after its first argument, or cannot be read. */
		task.places[0].size = STACK_SIZE / 2 + arch->convention.argument_stack + arch->pointer_size;
		ENTRY(&seven, 1, 2, 3, 4, 5, 6, 7);
		if (arch->convention.argument_registers == 4)
			assert_text(task.text, "a=1, b=2, c=3, d=4, e=5, f=(unreadable), g=(unreadable)");
		else if (!arch->convention.argument_registers)
			assert_non_null(strstr(task.text, "a=1, b=(unreadable), c=(unreadable), "));
		task.places[0].size = STACK_SIZE;
		arch->registers.set_sp(&task.regs, WILD);
		if (arch->convention.argument_registers < 6)
			assert_non_null(strstr(ENTRY(&seven, 1, 2, 3, 4, 5, 6, 7),
					       "e=(unreadable), f=(unreadable), g=(unreadable)"));
		fake_end(&task);
	}
}

static void test_rows_without_parameters_show_only_results(void **state)
{
	static const struct function nothing = {.symbol = "f"}, only_errno = {.sets_errno = true},
				     result = {.returns = {"return", PARAM_STRING}},
				     silent = {.params = {{"x", PARAM_NONE}}};
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		fake_begin(&task, arch);
		fake_memory(&task, TEXT_AT, "text", 5);
		assert_null(args_plan_of_row(arch, &nothing, false));
		assert_null(args_plan_of_signature(arch, NULL, false));
		task.has_error = true;
		task.error = ENOMEM;
		assert_text(ENTRY(&only_errno, 0), "");
		assert_text(fake_leave_row(&task, &only_errno, 0, true), "errno=ENOMEM");
		assert_text(fake_leave_row(&task, &result, TEXT_AT, false), "return=\"text\"");
		assert_text(ENTRY(&silent, 1), "");
		args_plan_free(NULL);
		fake_end(&task);
	}
}

/* Lists are shared, and copied before an item is added. */
static void test_argument_lists_are_copied_before_changes(void **state)
{
	struct arg_list *list = arg_list_new(), *copy, *empty = arg_list_copy(NULL);

	for (unsigned i = 0; i < 20; i++)
		arg_list_add(list, i ? "" : "name", "value");
	copy = arg_list_copy(list);
	arg_list_add(copy, "more", "");
	assert_ptr_equal(arg_list_ref(list), list);
	arg_list_unref(list);
	assert_int_equal(list->count, 20);
	assert_string_equal(list->items[0].name, "name");
	assert_string_equal(list->items[19].name, "");
	assert_string_equal(list->items[19].value, "value");
	arg_list_unref(list);
	assert_int_equal(copy->count, 21);
	assert_string_equal(copy->items[20].name, "more");
	assert_int_equal(empty->count, 0);
	arg_list_unref(copy);
	arg_list_unref(empty);
	arg_list_unref(NULL);
	assert_null(arg_list_ref(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_are_shown_by_type),
		cmocka_unit_test(test_strings_are_escaped_and_limited),
		cmocka_unit_test(test_openat_shows_flags_mode_and_errno),
		cmocka_unit_test(test_values_are_shown_as_words),
		cmocka_unit_test(test_type_depends_on_another_parameter),
		cmocka_unit_test(test_arguments_are_read_from_registers_and_stack),
		cmocka_unit_test(test_rows_without_parameters_show_only_results),
		cmocka_unit_test(test_argument_lists_are_copied_before_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
