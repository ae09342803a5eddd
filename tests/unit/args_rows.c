/* Arguments and results as modules' rows describe them: exact text, on each processor. */
#include "config.h"
#include "args_util.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#define JUNK    0x5ca1ab1e00000000u
#define TEXT_AT 0x10000u
#define WILD    0x66660000u

/* On each processor. */
#define FOR_EACH_ARCH(arch)                                                                                            \
	size_t arch_count_, i_ = 0;                                                                                    \
	const struct arch *const *const arches_ = fake_arches(&arch_count_), *arch;                                    \
	for (; i_ < arch_count_ && (arch = arches_[i_], true); i_++)

/* The text of one parameter with that value. */
static const char *shown(struct fake_task *task, const struct param *param, uint64_t value)
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

static const char *shown_type(struct fake_task *task, unsigned type, uint64_t value)
{
	return shown(task, &(struct param){.name = "x", .type = (unsigned char)type}, value);
}

static void test_numbers(void **state)
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

	(void)state;
	FOR_EACH_ARCH(arch)
	{
		fake_begin(&task, arch);
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
			assert_text(shown_type(&task, rows[i].type, rows[i].value), rows[i].text);
			/* The arguments of i386 are on the stack, which is read once. */
			assert_int_equal(task.reads, arch->argument_registers ? 0 : 1);
		}
		fake_end(&task);
	}
}

static void test_strings(void **state)
{
	static const char page[] = "/etc/passwd\0a\"b\\c\n\x01"
				   "2\x7f\xc3\xa9\xff\0"
				   "0123456789abcdef\0"
				   "0123456789abcdefg\0endless";
	static const uint32_t wide[] = {'w', 0xe9, 0x1f600, 0x85, 0};
	struct fake_task task;

	(void)state;
	FOR_EACH_ARCH(arch)
	{
		fake_begin(&task, arch);
		fake_memory(&task, TEXT_AT, page, sizeof(page) - 1);
		fake_memory(&task, 0x20000, wide, sizeof(wide));
		assert_text(shown_type(&task, PARAM_STRING, 0), "NULL");
		assert_text(shown_type(&task, PARAM_STRING, WILD), "0x66660000 (unreadable)");
		assert_text(shown_type(&task, PARAM_STRING, TEXT_AT), "\"/etc/passwd\"");
		assert_text(shown_type(&task, PARAM_STRING, TEXT_AT + 12),
			    "\"a\\\"b\\\\c\\n\\0012\\177\xc3\xa9\\377\"");
		assert_text(shown_type(&task, PARAM_STRING, TEXT_AT + 25), "\"0123456789abcdef\"");
		assert_text(shown_type(&task, PARAM_STRING, TEXT_AT + 42), "\"0123456789abcdef\"...");
		assert_text(shown_type(&task, PARAM_STRING, TEXT_AT + 60), "\"endless\"... (unreadable)");
		assert_text(shown_type(&task, PARAM_STRING, TEXT_AT + 11), "\"\"");
		assert_text(shown_type(&task, PARAM_WIDE, 0x20000), "L\"w\xc3\xa9\xf0\x9f\x98\x80\\u0085\"");
		assert_text(shown_type(&task, PARAM_WIDE, 0x20000 + sizeof(wide) - 3), "0x20011 (unreadable)");
		assert_int_equal(task.reads, 1 + !arch->argument_registers);
		fake_end(&task);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
