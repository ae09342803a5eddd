/* Tests the exact text of strings and string objects of C, C++ and Rust, with pointers of 8 and of 4 bytes. */
#include "config.h"
#include "args_util.h"

#include <stdio.h>

#define OBJECT_AT 0x5000u
#define COUNT_AT  0x20000u
#define LONG_TEXT "0123456789abcdefghij"

static const struct arch arches[] = {{.pointer_size = 8}, {.pointer_size = 4}};
static const struct data_type character = {.kind = DATA_CHAR, .size = 1, .name = "char"};

/* A target with one of these processors, and an object in it to which arguments point. */
struct target {
	struct fake_task task;
	unsigned word;
	unsigned char object[64];
	unsigned char counted[64]; /* a text with its length before it */
};

static void begin(struct target *t, const struct arch *arch)
{
	*t = (struct target){.word = arch->pointer_size};
	fake_begin(&t->task, arch);
	fake_memory(&t->task, OBJECT_AT, t->object, sizeof(t->object));
	fake_memory(&t->task, TEXT_AT, LONG_TEXT, sizeof(LONG_TEXT) - 1);
	fake_memory(&t->task, COUNT_AT, t->counted, sizeof(t->counted));
}

static void put(struct target *t, unsigned char *bytes, unsigned index, uint64_t value)
{
	memcpy(bytes + (size_t)index * t->word, &value, t->word);
}

/* Checks the texts of an object, of a reference and of a pointer to it, and of a struct that has it as a member. `text`
 * is the object's text, `as_member` the member's text, and `reads` the number of reads for `text`. */
static void assert_object(struct target *t, const struct data_type *type, const char *text, const char *as_member,
			  unsigned reads)
{
	const struct data_type pointer = {.kind = DATA_POINTER, .size = t->word, .target = type},
			       reference = {.kind = DATA_REFERENCE, .size = t->word, .target = type};
	const struct data_member member = {.name = "s", .type = type};
	const struct data_type holder = {
		.kind = DATA_STRUCT, .size = type->size, .members = &member, .member_count = 1};
	const uint64_t address = OBJECT_AT;
	char with_address[512], within[512];

	snprintf(with_address, sizeof(with_address), "0x5000 -> %s", text);
	snprintf(within, sizeof(within), "{s=%s}", as_member);
	assert_text(fake_value(&t->task, type, t->object, type->size, OBJECT_AT), text);
	assert_int_equal(t->task.reads, reads);
	assert_text(fake_value(&t->task, &reference, &address, t->word, 0), text);
	assert_int_equal(t->task.reads, reads + 1);
	assert_text(fake_value(&t->task, &pointer, &address, t->word, 0), with_address);
	assert_int_equal(t->task.reads, reads + 1);
	assert_text(fake_value(&t->task, &holder, t->object, type->size, OBJECT_AT), within);
	assert_int_equal(t->task.reads, 0);
}

/* Tests libstdc++'s string: pointer, length, and room for a short string. */
static void test_libstdcxx_string_is_shown(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(arches); i++) {
		struct target t;

		begin(&t, &arches[i]);
		const struct data_type string = {.kind = DATA_TEXT,
						 .size = 2 * t.word + 16,
						 .text_at = 0,
						 .length_at = t.word,
						 .by_address = true};

		put(&t, t.object, 0, OBJECT_AT + 2 * t.word);
		put(&t, t.object, 1, 5);
		memcpy(t.object + 2 * t.word, "he\"l\0", 6);
		assert_object(&t, &string, "\"he\\\"l\\0\"", "\"he\\\"l\\0\"", 0);
		put(&t, t.object, 0, TEXT_AT);
		put(&t, t.object, 1, 16);
		assert_object(&t, &string, "\"0123456789abcdef\"", "<16 bytes at 0x10000>", 1);
		put(&t, t.object, 1, 17);
		assert_object(&t, &string, "\"0123456789abcdef\"...", "<17 bytes at 0x10000>", 1);
		put(&t, t.object, 0, TEXT_AT + 16);
		assert_object(&t, &string, "\"ghij\"... (unreadable)", "<17 bytes at 0x10010>", 1);
		put(&t, t.object, 1, 0);
		assert_object(&t, &string, "\"\"", "\"\"", 0);
		/* Pointers and lengths may be hostile. */
		put(&t, t.object, 0, 0x9000);
		put(&t, t.object, 1, UINT64_MAX);
		assert_object(&t, &string, "0x9000 (unreadable)",
			      t.word == 8 ? "<18446744073709551615 bytes at 0x9000>" : "<4294967295 bytes at 0x9000>",
			      1);
		put(&t, t.object, 0, OBJECT_AT + string.size - 1);
		put(&t, t.object, 1, 3);
		t.object[string.size - 1] = 'z';
		/* Not all bytes of the text are inside of the object, so they are read from memory. */
		assert_text(fake_value(&t.task, &string, t.object, string.size, OBJECT_AT), "\"z\\0\\0\"");
	}
}

/* A std::string_view is passed in registers, with its length first; Rust's &str with its pointer first. */
static void test_string_view_and_str_are_shown(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(arches); i++) {
		struct target t;

		begin(&t, &arches[i]);
		const struct data_type view = {
			.kind = DATA_TEXT, .size = 2 * t.word, .text_at = t.word, .length_at = 0};
		const struct data_type str = {.kind = DATA_TEXT, .size = 2 * t.word, .text_at = 0, .length_at = t.word};
		unsigned char bytes[16];

		put(&t, bytes, 0, 4);
		put(&t, bytes, 1, TEXT_AT + 2);
		assert_text(fake_value(&t.task, &view, bytes, 2 * t.word, 0), "\"2345\"");
		put(&t, bytes, 0, TEXT_AT + 1);
		put(&t, bytes, 1, 2);
		assert_text(fake_value(&t.task, &str, bytes, 2 * t.word, 0), "\"12\"");
		assert_text(fake_value(&t.task, &str, bytes, 2 * t.word - 1, 0), "(unreadable)");
		/* Here the string's pointer is 0, and the value, which is in registers, has the address 0, too. The
		 * string must not be taken for a part of the value. */
		put(&t, bytes, 0, 0);
		assert_text(fake_value(&t.task, &str, bytes, 2 * t.word, 0), "NULL");
	}
}

/* Tests the older std::string, which is one pointer. */
static void test_old_libstdcxx_string_is_shown(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(arches); i++) {
		struct target t;

		begin(&t, &arches[i]);
		const struct data_type string = {.kind = DATA_TEXT_COUNTED, .size = t.word, .by_address = true};
		const unsigned before = 3 * t.word;
		char address[32];

		snprintf(address, sizeof(address), "%#x", COUNT_AT + before);
		put(&t, t.object, 0, COUNT_AT + before);
		put(&t, t.counted, 0, 7);
		memcpy(t.counted + before, "seven\0.and more than that", 25);
		assert_object(&t, &string, "\"seven\\0.\"", address, 1);
		put(&t, t.counted, 0, 17);
		assert_object(&t, &string, "\"seven\\0.and more \"...", address, 1);
		put(&t, t.counted, 0, 0);
		assert_object(&t, &string, "\"\"", address, 1);
		put(&t, t.object, 0, 0x9000);
		assert_object(&t, &string, "0x9000 (unreadable)", "0x9000", 1);
		put(&t, t.object, 0, 0);
		assert_object(&t, &string, "NULL", "NULL", 0);
	}
}

/* libc++'s std::string. */
static void test_libcxx_string_is_shown(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(arches); i++) {
		struct target t;

		begin(&t, &arches[i]);
		const struct data_type string = {.kind = DATA_TEXT_INLINE, .size = 3 * t.word, .by_address = true};

		memcpy(t.object, "\x0ahello", 6);
		assert_object(&t, &string, "\"hello\"", "\"hello\"", 0);
		put(&t, t.object, 0, 33);
		put(&t, t.object, 1, 20);
		put(&t, t.object, 2, TEXT_AT);
		assert_object(&t, &string, "\"0123456789abcdef\"...", "<20 bytes at 0x10000>", 1);
		/* The length may be larger than the object's room. */
		memset(t.object, 'x', 3 * t.word);
		t.object[0] = 0xfe;
		assert_object(&t, &string, t.word == 8 ? "\"xxxxxxxxxxxxxxxx\"..." : "\"xxxxxxxxxxx\"",
			      t.word == 8 ? "\"xxxxxxxxxxxxxxxx\"..." : "\"xxxxxxxxxxx\"", 0);
	}
}

/* Strings may have valid and invalid characters of UTF-8. */
static void test_invalid_utf8_is_escaped(void **state)
{
	static const struct {
		const char *bytes, *text;
	} rows[] = {
		{"\xc3\xa9", "\"\xc3\xa9\""},
		{"\xe2\x82\xac!", "\"\xe2\x82\xac!\""},
		{"\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\""},
		{"\xc3", "\"\\xc3\""},
		{"\xc3(", "\"\\xc3(\""},
		{"\xc0\x80", "\"\\xc0\\x80\""},
		{"\xe0\x80\xaf", "\"\\xe0\\x80\\xaf\""},
		{"\xed\xa0\x80", "\"\\xed\\xa0\\x80\""},
		{"\xf4\x90\x80\x80", "\"\\xf4\\x90\\x80\\x80\""},
		{"\xff\xfe", "\"\\xff\\xfe\""},
		{"\xc2\x85", "\"\\xc2\\x85\""},
		{"\xe2\x80\xae", "\"\\xe2\\x80\\xae\""},
		/* The limit is 16 bytes, and does not split a character. */
		{"0123456789abcde\xc3\xa9", "\"0123456789abcde\"..."},
		{"0123456789abc\xe2\x82\xac", "\"0123456789abc\xe2\x82\xac\""},
		{"0123456789abcd\xe2\x82\xac", "\"0123456789abcd\"..."},
	};
	const struct data_type pointer = {.kind = DATA_POINTER, .size = 8, .target = &character};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const uint64_t address = 0x8000;
		struct fake_task task;

		fake_begin(&task, &arches[0]);
		fake_memory(&task, address, rows[i].bytes, strlen(rows[i].bytes) + 1);
		assert_text(fake_value(&task, &pointer, &address, 8, 0), rows[i].text);
		assert_int_equal(task.reads, 1);
	}
}

static void test_wide_strings_are_shown_as_utf8(void **state)
{
	static const struct data_type wchar = {.kind = DATA_CHAR, .size = 4, .name = "wchar_t"},
				      char16 = {.kind = DATA_CHAR, .size = 2, .name = "char16_t"},
				      char32 = {.kind = DATA_CHAR, .size = 4, .name = "char32_t"};
	static const uint16_t halves[] = {'a', 0xd83d, 0xde00, 0xd83d, 'b', '\n', 0};
	static const uint32_t wholes[] = {'a', 0xe9, 0xfeff, 0x110000, 0};
	static const uint32_t endless[] = {1, 2, 3};
	const struct data_type to_half = {.kind = DATA_POINTER, .size = 8, .target = &char16},
			       to_whole = {.kind = DATA_POINTER, .size = 8, .target = &char32},
			       to_wide = {.kind = DATA_POINTER, .size = 8, .target = &wchar};
	const uint64_t half_at = 0x8000, whole_at = 0x9000, endless_at = 0xa000;
	struct fake_task task;

	fake_begin(&task, &arches[0]);
	fake_memory(&task, half_at, halves, sizeof(halves));
	fake_memory(&task, whole_at, wholes, sizeof(wholes));
	fake_memory(&task, endless_at, endless, sizeof(endless) - 1);
	assert_text(fake_value(&task, &to_half, &half_at, 8, 0), "u\"a\xf0\x9f\x98\x80\\ud83db\\n\"");
	assert_text(fake_value(&task, &to_whole, &whole_at, 8, 0), "U\"a\xc3\xa9\\ufeff\\U00110000\"");
	assert_text(fake_value(&task, &to_wide, &endless_at, 8, 0), "L\"\\x01\\x02\"... (unreadable)");
}

/* A text has at most the user's limit of bytes, and never more than the maximum. */
static void test_texts_are_cut_at_the_limit(void **state)
{
	static unsigned char bytes[3 * ARGS_LIMIT_MAX];
	static struct fake_task task;
	const struct data_type pointer = {.kind = DATA_POINTER, .size = 8, .target = &character};
	const uint64_t address = 0x100000;

	memset(bytes, 1, sizeof(bytes));
	fake_begin(&task, &arches[0]);
	fake_memory(&task, address, bytes, sizeof(bytes));
	task.source.limit = 0;
	assert_text(fake_value(&task, &pointer, &address, 8, 0), "\"\"...");
	task.source.limit = 1;
	assert_text(fake_value(&task, &pointer, &address, 8, 0), "\"\\x01\"...");
	task.source.limit = SIZE_MAX;
	assert_int_equal(strlen(fake_value(&task, &pointer, &address, 8, 0)), 4 * ARGS_LIMIT_MAX + 5);
}

/* Of the strings to which members point, a limited number is shown for each argument. A struct may end with an array
 * without length. */
static void test_strings_of_members_are_limited_in_number(void **state)
{
	struct target t;

	for (size_t i = 0; i < ARRAY_SIZE(arches); i++) {
		const unsigned word = arches[i].pointer_size;
		const struct data_type string = {.kind = DATA_POINTER, .size = word, .target = &character},
				       to_string = {.kind = DATA_POINTER, .size = word, .target = &string},
				       six = {.kind = DATA_ARRAY, .size = 6 * word, .target = &string, .count = 6},
				       open = {.kind = DATA_ARRAY, .target = &character},
				       numbers = {.kind = DATA_ARRAY, .target = &to_string};
		const struct data_member members[] = {{.name = "n", .type = &to_string},
						      {.name = "s", .type = &string, .offset = word},
						      {.name = "open", .type = &open, .offset = 2 * word},
						      {.name = "more", .type = &numbers, .offset = 2 * word}};
		const struct data_type record = {.kind = DATA_STRUCT,
						 .size = 2 * word,
						 .members = members,
						 .member_count = ARRAY_SIZE(members)},
				       to_record = {.kind = DATA_POINTER, .size = word, .target = &record};
		const uint64_t object_at = OBJECT_AT;

		begin(&t, &arches[i]);
		put(&t, t.object, 1, TEXT_AT + 15);
		memcpy(t.object + (size_t)2 * word, "tail", 5);
		assert_text(fake_value(&t.task, &to_record, &object_at, word, 0),
			    "0x5000 -> {n=NULL, s=\"fghij\"... (unreadable), open=\"tail\", more=[...]}");
		assert_int_equal(t.task.reads, 3);
		/* The struct is in registers, so no bytes follow it. */
		assert_text(fake_value(&t.task, &record, t.object, record.size, 0),
			    "{n=NULL, s=\"fghij\"... (unreadable), open=[...], more=[...]}");
		for (unsigned k = 0; k < 6; k++)
			put(&t, t.object, k, k == 1 ? 0x10 : TEXT_AT + 19);
		assert_text(fake_value(&t.task, &six, t.object, six.size, OBJECT_AT),
			    "[\"j\"... (unreadable), 0x10 (unreadable), \"j\"... (unreadable), \"j\"... (unreadable), "
			    "0x10013, 0x10013]");
		assert_int_equal(t.task.reads, 4);
		assert_text(fake_value(&t.task, &to_string, &object_at, word, 0), "0x5000 -> \"j\"... (unreadable)");
		fake_end(&t.task);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_libstdcxx_string_is_shown),
		cmocka_unit_test(test_string_view_and_str_are_shown),
		cmocka_unit_test(test_old_libstdcxx_string_is_shown),
		cmocka_unit_test(test_libcxx_string_is_shown),
		cmocka_unit_test(test_invalid_utf8_is_escaped),
		cmocka_unit_test(test_wide_strings_are_shown_as_utf8),
		cmocka_unit_test(test_texts_are_cut_at_the_limit),
		cmocka_unit_test(test_strings_of_members_are_limited_in_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
