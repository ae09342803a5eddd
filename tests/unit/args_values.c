/* Tests the exact text of values of every type that debug information may describe. */
#include "config.h"
#include "args_util.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define AT 0x5000u /* address of values whose address matters */

static const struct arch wide = {.pointer_size = 8}, narrow = {.pointer_size = 4};

#define INT_TYPE(bytes, is)                                                                                            \
	{                                                                                                              \
		.kind = DATA_INT, .size = (bytes), .is_signed = (is), .name = "int"                                    \
	}
static const struct data_type int8 = INT_TYPE(1, true), uint8 = INT_TYPE(1, false), int16 = INT_TYPE(2, true),
			      int32 = INT_TYPE(4, true), uint32 = INT_TYPE(4, false), int64 = INT_TYPE(8, true),
			      uint64 = INT_TYPE(8, false), int128 = INT_TYPE(16, true), uint128 = INT_TYPE(16, false),
			      int24 = INT_TYPE(3, true), int512 = INT_TYPE(64, true),
			      boolean = {.kind = DATA_BOOL, .size = 1},
			      character = {.kind = DATA_CHAR, .size = 1, .name = "char"},
			      wide_char = {.kind = DATA_CHAR, .size = 4, .name = "wchar_t", .is_signed = true},
			      char16 = {.kind = DATA_CHAR, .size = 2, .name = "char16_t"},
			      char32 = {.kind = DATA_CHAR, .size = 4, .name = "char32_t"},
			      float_type = {.kind = DATA_FLOAT, .size = 4, .name = "float"},
			      double_type = {.kind = DATA_FLOAT, .size = 8, .name = "double"},
			      half_type = {.kind = DATA_FLOAT, .size = 2, .name = "_Float16"},
			      function = {.kind = DATA_FUNCTION};

/* Returns the text that the value would have within a call on a 64-bit processor. */
static const char *text_of(const struct data_type *type, const void *bytes, size_t size)
{
	static struct fake_task task;

	fake_begin(&task, &wide);
	return fake_value(&task, type, bytes, size, 0);
}

#define assert_shown(type, value, expected)                                                                            \
	do {                                                                                                           \
		const __typeof__(value) value_ = (value);                                                              \
                                                                                                                       \
		assert_text(text_of((type), &value_, sizeof(value_)), (expected));                                     \
	} while (0)

static void test_integers_of_all_widths_are_shown(void **state)
{
	static const uint64_t least[] = {0, (uint64_t)1 << 63}, ones[] = {UINT64_MAX, UINT64_MAX},
			      ten[] = {0x8ac7230489e80000u, 0}, word[] = {0, 1}, absurd[8] = {1};

	assert_shown(&int8, (int8_t)-1, "-1");
	assert_shown(&uint8, (uint8_t)200, "200");
	assert_shown(&int16, (int16_t)-32768, "-32768");
	assert_shown(&int32, -42, "-42");
	assert_shown(&uint32, -42, "4294967254");
	assert_shown(&int64, INT64_MIN, "-9223372036854775808");
	assert_shown(&uint64, UINT64_MAX, "18446744073709551615");
	assert_shown(&int24, 0xffffff, "-1");
	assert_text(text_of(&int128, least, 16), "-170141183460469231731687303715884105728");
	assert_text(text_of(&int128, ones, 16), "-1");
	assert_text(text_of(&uint128, ones, 16), "340282366920938463463374607431768211455");
	assert_text(text_of(&uint128, ten, 16), "10000000000000000000");
	assert_text(text_of(&int128, word, 16), "18446744073709551616");
	assert_text(text_of(&int512, absurd, 64), "<64 bytes>");
	assert_shown(&boolean, (char)1, "true");
	assert_shown(&boolean, (char)0, "false");
	assert_shown(&boolean, (char)7, "7");
	assert_text(text_of(NULL, absurd, 8), "<unknown type>");
	assert_shown(&(struct data_type){.size = 4}, 0x1234, "0x1234");
	assert_shown(&(struct data_type){.kind = DATA_VOID}, 0, "<unknown type>");
	/* Memory that cannot be read. */
	assert_text(text_of(&int32, absurd, 3), "(unreadable)");
}

static void test_characters_are_escaped(void **state)
{
	assert_shown(&character, 'a', "'a'");
	assert_shown(&character, '\0', "'\\0'");
	assert_shown(&character, '\'', "'\\''");
	assert_shown(&character, '"', "'\"'");
	assert_shown(&character, '\\', "'\\\\'");
	assert_shown(&character, '\t', "'\\t'");
	assert_shown(&character, '\x1b', "'\\x1b'");
	assert_shown(&character, '\xff', "'\\xff'");
	assert_shown(&wide_char, (uint32_t)0x20ac, "L'\xe2\x82\xac'");
	assert_shown(&char16, (uint16_t)'x', "u'x'");
	assert_shown(&char32, (uint32_t)0x1f600, "U'\xf0\x9f\x98\x80'");
	assert_shown(&char32, (uint32_t)0x202e, "U'\\u202e'");
	assert_shown(&char32, (uint32_t)0xffffffff, "U'\\Uffffffff'");
}

static void test_floats_are_shown_as_short_as_possible(void **state)
{
	static const struct {
		uint16_t bits;
		const char *text;
	} halves[] = {{0x3c00, "1"},    {0x3555, "0.3333"}, {0x7bff, "65504"}, {0x0001, "6e-08"}, {0x7c00, "inf"},
		      {0xfc00, "-inf"}, {0x7e00, "nan"},    {0x8000, "-0"},    {0x2e66, "0.1"}};

	assert_shown(&double_type, 0.1, "0.1");
	assert_shown(&double_type, 1.0, "1");
	assert_shown(&double_type, -2.5e300, "-2.5e+300");
	assert_shown(&double_type, 0.1 + 0.2, "0.30000000000000004");
	assert_shown(&double_type, 1.0 / 3, "0.3333333333333333");
	assert_shown(&double_type, 5e-324, "5e-324");
	assert_shown(&double_type, 1.7976931348623157e308, "1.7976931348623157e+308");
	assert_shown(&double_type, (double)-INFINITY, "-inf");
	assert_shown(&double_type, -0.0, "-0");
	assert_shown(&float_type, 0.1f, "0.1");
	assert_shown(&float_type, 1e-45f, "1e-45");
	assert_shown(&float_type, 16777216.0f, "16777216");
	assert_shown(&float_type, 3.4028235e38f, "3.4028235e+38");
	for (size_t i = 0; i < ARRAY_SIZE(halves); i++)
		assert_shown(&half_type, halves[i].bits, halves[i].text);
}

static double half_number(unsigned bits)
{
	const int exponent = (int)(bits >> 10) & 31;

	return ldexp((bits & 1023) | (exponent ? 1024 : 0), (exponent ? exponent : 1) - 25);
}

/* Each 16-bit float reads back as itself: the shown text is nearer to it than to its neighbours. */
static void test_every_16_bit_float_reads_back_as_itself(void **state)
{
	for (unsigned bits = 1; bits < 0x7bff; bits++) {
		const double read = strtod(text_of(&half_type, &(uint16_t){(uint16_t)bits}, 2), NULL);
		const double off = fabs(read - half_number(bits));

		assert_true(off < fabs(read - half_number(bits - 1)) && off < fabs(read - half_number(bits + 1)));
	}
}

static void test_extended_floats_are_shown(void **state)
{
	static const struct data_type extended = {.kind = DATA_FLOAT, .size = 16, .is_extended = true},
				      narrow_extended = {.kind = DATA_FLOAT, .size = 12, .is_extended = true},
				      quad = {.kind = DATA_FLOAT, .size = 16}, odd = {.kind = DATA_FLOAT, .size = 5};
	static const struct {
		uint64_t mantissa;
		uint16_t top;
		const char *text;
	} x87[] = {{0x8000000000000000u, 0x3fff, "1"},
		   {0xc000000000000000u, 0xbfff, "-1.5"},
		   {0, 0, "0"},
		   {0x8000000000000000u, 0x7fff, "inf"},
		   {0x8000000000000000u, 0xffff, "-inf"},
		   {0xc000000000000000u, 0x7fff, "nan"},
		   {0x4000000000000000u, 0x3fff, "nan"}};
	static const struct {
		uint64_t low, high;
		const char *text;
	} quads[] = {{0, 0x3fff000000000000u, "1"},
		     {0, 0xc000400000000000u, "-2.5"},
		     {0, 0x7fff000000000000u, "inf"},
		     {1, 0x7fff000000000000u, "nan"},
		     {0, 0x8000000000000000u, "-0"}};

	for (size_t i = 0; i < ARRAY_SIZE(x87); i++) {
		unsigned char bytes[16] = {0};

		memcpy(bytes, &x87[i].mantissa, 8);
		memcpy(bytes + 8, &x87[i].top, 2);
		memset(bytes + 10, 0xee, 6);
		assert_text(text_of(&extended, bytes, 16), x87[i].text);
		assert_text(text_of(&narrow_extended, bytes, 12), x87[i].text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(quads); i++) {
		const uint64_t bytes[] = {quads[i].low, quads[i].high};

		assert_text(text_of(&quad, bytes, 16), quads[i].text);
	}
	assert_shown(&odd, (uint64_t)1, "<5 bytes>");
#if LDBL_MANT_DIG == 64
	const struct data_type *native = sizeof(long double) == 12 ? &narrow_extended : &extended;

	assert_shown(native, 0.1L, "0.1");
	assert_shown(native, 1.0L / 3, "0.33333333333333333334");
#endif
}

static void test_complex_numbers_are_shown(void **state)
{
	static const struct data_type complex_double = {.kind = DATA_COMPLEX, .size = 16, .target = &double_type},
				      complex_int = {.kind = DATA_COMPLEX, .size = 8, .target = &int32};
	const double number[] = {1.5, -2};
	const int32_t integers[] = {1, 2};

	assert_text(text_of(&complex_double, number, 16), "1.5 + -2i");
	assert_text(text_of(&complex_int, integers, 8), "1 + 2i");
	assert_text(text_of(&complex_double, number, 15), "(unreadable)");
}

static void test_enum_values_are_shown_by_name(void **state)
{
	static const struct data_word words[] = {{"LESS", UINT64_MAX}, {"SAME", 0}, {"MORE", 1}};
	static const struct data_word bits[] = {{"READ", 1}, {"WRITE", 2}, {"BOTH", 3}, {"EXEC", 4}};
	static const struct data_word zero[] = {{"NONE", 0}, {"READ", 1}};
	static const struct data_type order = {.kind = DATA_ENUM,
					       .size = 4,
					       .target = &int32,
					       .words = words,
					       .word_count = ARRAY_SIZE(words)},
				      flags = {.kind = DATA_ENUM,
					       .size = 4,
					       .target = &uint32,
					       .is_flags = true,
					       .words = bits,
					       .word_count = ARRAY_SIZE(bits)},
				      zeroed = {.kind = DATA_ENUM,
						.size = 1,
						.target = &uint8,
						.is_flags = true,
						.words = zero,
						.word_count = ARRAY_SIZE(zero)};

	assert_shown(&order, -1, "LESS");
	assert_shown(&order, 0, "SAME");
	assert_shown(&order, 2, "2");
	assert_shown(&order, -2, "-2");
	assert_shown(&flags, 1, "READ");
	assert_shown(&flags, 3, "BOTH");
	assert_shown(&flags, 5, "READ|EXEC");
	assert_shown(&flags, 7, "BOTH|EXEC");
	assert_shown(&flags, 0x81, "READ|0x80");
	assert_shown(&flags, 0x80, "0x80");
	assert_shown(&flags, 0, "0");
	assert_shown(&zeroed, (char)0, "NONE");
}

static void test_struct_members_are_shown_by_name(void **state)
{
	static const struct data_member base_members[] = {{.name = "id", .type = &int32}};
	static const struct data_type base = {.kind = DATA_STRUCT,
					      .size = 4,
					      .members = base_members,
					      .member_count = 1},
				      empty = {.kind = DATA_STRUCT, .size = 1},
				      pointer = {.kind = DATA_POINTER, .size = 8, .target = &character},
				      reference = {.kind = DATA_REFERENCE, .size = 8, .target = &int32},
				      callback = {.kind = DATA_POINTER, .size = 8, .target = &function},
				      three = {.kind = DATA_ARRAY, .size = 12, .target = &int32, .count = 3},
				      name = {.kind = DATA_ARRAY, .size = 8, .target = &character, .count = 8};
	static const struct data_member union_members[] = {{.name = "as_int", .type = &int32},
							   {.name = "as_float", .type = &float_type}};
	static const struct data_type either = {
		.kind = DATA_UNION, .size = 4, .members = union_members, .member_count = 2};
	static const struct data_member members[] = {
		{.name = "", .type = &base, .is_base = true},     {.name = "", .type = &empty, .is_base = true},
		{.name = "x", .type = &int32, .offset = 4},       {.name = "", .type = &either, .offset = 8},
		{.name = "text", .type = &pointer, .offset = 16}, {.name = "compare", .type = &callback, .offset = 24},
		{.name = "to", .type = &reference, .offset = 32}, {.name = "numbers", .type = &three, .offset = 40},
		{.name = "name", .type = &name, .offset = 52},    {.name = "empty", .type = &empty, .offset = 60},
	};
	static const struct data_type whole = {
		.kind = DATA_STRUCT, .size = 64, .members = members, .member_count = ARRAY_SIZE(members)};
	struct {
		int32_t id, x;
		float either;
		int32_t pad;
		uint64_t text, compare, to;
		int32_t numbers[3];
		char name[8];
		int32_t end;
	} bytes = {7, 1, 1.5f, 0, 0x1234, 0x401136, 0x5678, {1, 2, 3}, "bob\0xxx", 0};

	assert_int_equal(sizeof(bytes), 64);
	assert_text(
		text_of(&whole, &bytes, 64),
		"{id=7, x=1, {as_int=1069547520, as_float=1.5}, text=0x1234 (unreadable), compare=0x401136 <compare>, "
		"to=0x5678, numbers=[1, 2, 3], name=\"bob\", empty={}}");
	assert_text(text_of(&empty, &bytes, 1), "{}");
	/* The end of the memory cannot be read. */
	assert_text(text_of(&whole, &bytes, 30),
		    "{id=7, x=1, {as_int=1069547520, as_float=1.5}, text=0x1234 (unreadable), compare=(unreadable)}");
}

static void test_bit_fields_are_shown(void **state)
{
	static const struct data_word words[] = {{"RED", 1}};
	static const struct data_type color = {
		.kind = DATA_ENUM, .size = 4, .target = &uint32, .words = words, .word_count = 1};
	static const struct data_member members[] = {
		{.name = "a", .type = &int32, .bit_offset = 0, .bit_size = 3},
		{.name = "b", .type = &uint32, .bit_offset = 3, .bit_size = 7},
		{.name = "c", .type = &boolean, .bit_offset = 10, .bit_size = 1},
		{.name = "d", .type = &color, .bit_offset = 11, .bit_size = 2},
		{.name = "e", .type = &uint64, .offset = 1, .bit_offset = 5, .bit_size = 64},
		{.name = "f", .type = &int64, .offset = 8, .bit_offset = 13, .bit_size = 51},
		{.name = "g", .type = &int128, .offset = 16, .bit_offset = 0, .bit_size = 100},
	};
	static const struct data_type fields = {
		.kind = DATA_STRUCT, .size = 32, .members = members, .member_count = ARRAY_SIZE(members)};
	/* a = -3, b = 100, c = 1, d = RED, e = all ones */
	unsigned char bytes[32] = {0x5 | (uint8_t)(100 << 3),
				   100 >> 5 | 4 | 1 << 3 | 0xe0,
				   0xff,
				   0xff,
				   0xff,
				   0xff,
				   0xff,
				   0xff,
				   0xff,
				   0xdf,
				   0xff,
				   0xff,
				   0xff,
				   0xff,
				   0xff,
				   0xff};

	assert_text(text_of(&fields, bytes, 32),
		    "{a=-3, b=100, c=true, d=RED, e=18446744073709551615, f=-2, g=<bits>}");
	assert_text(text_of(&fields, bytes, 9),
		    "{a=-3, b=100, c=true, d=RED, e=(unreadable), f=(unreadable), g=<bits>}");
}

/* Tests numbers in the other byte order (GCC's scalar_storage_order), in which bit fields begin at the highest bit. */
static void test_values_in_the_other_byte_order_are_shown(void **state)
{
	static const struct data_word words[] = {{"RED", 1}};
	static const struct data_type color = {
		.kind = DATA_ENUM, .size = 4, .target = &uint32, .words = words, .word_count = 1, .is_swapped = true};
	struct data_type number = int16, real = double_type, wider = int128, letter = char16, bits = int32;

	number.is_swapped = real.is_swapped = wider.is_swapped = letter.is_swapped = bits.is_swapped = true;
	const struct data_type letters = {.kind = DATA_ARRAY, .size = 4, .target = &letter, .count = 2};
	const struct data_member members[] = {
		{.name = "n", .type = &number},
		{.name = "a", .type = &bits, .offset = 2, .bit_size = 4},
		{.name = "b", .type = &bits, .offset = 2, .bit_offset = 4, .bit_size = 12},
		{.name = "e", .type = &color, .offset = 4},
		{.name = "r", .type = &real, .offset = 8},
		{.name = "w", .type = &wider, .offset = 16},
		{.name = "l", .type = &letters, .offset = 32},
	};
	const struct data_type fields = {
		.kind = DATA_STRUCT, .size = 36, .members = members, .member_count = ARRAY_SIZE(members)};
	unsigned char bytes[36] = {0xff, 0xfe, 0x51, 0x23, 0, 0, 0, 1, 0x3f, 0xf8};

	memcpy(bytes + 30, (unsigned char[]){1, 2, 0, 'x', 0, 'y'}, 6);
	assert_text(text_of(&fields, bytes, 36), "{n=-2, a=5, b=291, e=RED, r=1.5, w=258, l=[u'x', u'y']}");
	assert_text(text_of(&fields, bytes, 7), "{n=-2, a=5, b=291, e=(unreadable)}");
}

static void test_arrays_and_nesting_are_cut_at_their_limits(void **state)
{
	static const struct data_type many = {.kind = DATA_ARRAY, .size = 400, .target = &int32, .count = 100},
				      eight = {.kind = DATA_ARRAY, .size = 32, .target = &int32, .count = 8},
				      none = {.kind = DATA_ARRAY, .size = 0, .target = &int32, .count = 0},
				      rows = {.kind = DATA_ARRAY, .size = 64, .target = &eight, .count = 2},
				      vector = {.kind = DATA_VECTOR, .size = 16, .target = &int8, .count = 16},
				      text = {.kind = DATA_ARRAY, .size = 40, .target = &character, .count = 40};
	static const int32_t numbers[100] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
	static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyz0123";
	struct data_member deep[8];
	struct data_type levels[8];

	assert_text(text_of(&many, numbers, 400), "[1, 2, 3, 4, 5, 6, 7, 8, ...]");
	assert_text(text_of(&eight, numbers, 32), "[1, 2, 3, 4, 5, 6, 7, 8]");
	assert_text(text_of(&none, numbers, 0), "[...]");
	assert_text(text_of(&rows, numbers, 64), "[[1, 2, 3, 4, 5, 6, 7, 8], [9, 10, 11, 12, 13, 14, 15, 16]]");
	assert_text(text_of(&eight, numbers, 10), "[1, 2, (unreadable)]");
	assert_text(text_of(&vector, numbers, 16), "[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0]");
	assert_text(text_of(&text, letters, 40), "\"0123456789abcdef\"...");
	assert_text(text_of(&text, letters, 10), "\"0123456789\"... (unreadable)");
	assert_text(text_of(&text, letters, 0), "(unreadable)");
	for (size_t i = 0; i < ARRAY_SIZE(deep); i++) {
		deep[i] = (struct data_member){.name = "in", .type = i ? &levels[i - 1] : &int32};
		levels[i] = (struct data_type){.kind = DATA_STRUCT, .size = 4, .members = &deep[i], .member_count = 1};
	}
	assert_text(text_of(&levels[2], numbers, 4), "{in={in={in=1}}}");
	assert_text(text_of(&levels[7], numbers, 4), "{in={in={in={in={...}}}}}");
}

/* Of a struct with many members, as many are shown as have room, and all brackets are closed. */
static void test_long_structs_are_cut_with_closed_brackets(void **state)
{
	static struct data_member members[300];
	static const struct data_type huge = {
		.kind = DATA_STRUCT, .size = 1200, .members = members, .member_count = ARRAY_SIZE(members)};
	static const struct data_member outer_members[] = {{.name = "first", .type = &huge},
							   {.name = "second", .type = &huge, .offset = 1200}};
	static const struct data_type outer = {
		.kind = DATA_STRUCT, .size = 2400, .members = outer_members, .member_count = 2};
	static const unsigned char bytes[2400];
	const char *text;

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		members[i] = (struct data_member){.name = "member", .type = &int32, .offset = (uint32_t)(4 * i)};
	text = text_of(&outer, bytes, sizeof(bytes));
	assert_int_equal(strncmp(text, "{first={member=0, member=0", 26), 0);
	assert_in_range(strlen(text), 1024 + 4 * 16 - 32, 1024 + 4 * 16 + 32);
	assert_string_equal(text + strlen(text) - 5, "...}}");
}

static void test_data_at_pointers_is_shown(void **state)
{
	static const struct data_member members[] = {{.name = "x", .type = &int32},
						     {.name = "y", .type = &int32, .offset = 4}};
	static const struct data_type point = {.kind = DATA_STRUCT, .size = 8, .members = members, .member_count = 2},
				      opaque = {.kind = DATA_STRUCT, .name = "FILE"}, no_type = {.kind = DATA_VOID},
				      boxes = {.kind = DATA_ARRAY, .size = 16, .target = &point, .count = 2};
	static const int32_t bytes[] = {1, 2, 3, 4};
#define TO(name, what) name = {.kind = DATA_POINTER, .size = 8, .target = (what) }
	static const struct data_type TO(to_point, &point), TO(to_int, &int32), TO(to_byte, &uint8), TO(to_void, NULL),
		TO(to_no_type, &no_type), TO(to_opaque, &opaque), TO(to_function, &function), TO(to_boxes, &boxes),
		TO(to_to_int, &to_int), TO(to_bool, &boolean),
		ref_point = {.kind = DATA_REFERENCE, .size = 8, .target = &point},
		ref_int = {.kind = DATA_REFERENCE, .size = 8, .target = &int32},
		ref_pointer = {.kind = DATA_REFERENCE, .size = 8, .target = &to_int},
		ref_byte = {.kind = DATA_REFERENCE, .size = 8, .target = &uint8};
	static const struct {
		const struct data_type *type;
		uint64_t address;
		const char *text;
		unsigned reads;
	} rows[] = {
		{&to_point, AT, "0x5000 -> {x=1, y=2}", 1},
		{&to_point, AT + 12, "0x500c -> {x=4, y=(unreadable)}", 1},
		{&to_point, 0x9000, "0x9000 (unreadable)", 1},
		{&to_point, 0, "NULL", 0},
		{&to_int, AT + 4, "0x5004 -> 2", 1},
		{&to_int, UINT64_MAX, "0xffffffffffffffff (unreadable)", 1},
		{&to_byte, AT, "0x5000", 0},
		{&to_bool, AT, "0x5000 -> true", 1},
		{&to_void, AT, "0x5000", 0},
		{&to_no_type, AT, "0x5000", 0},
		{&to_opaque, AT, "0x5000", 0},
		{&to_function, 0x401136, "0x401136 <compare>", 0},
		{&to_function, 0, "NULL", 0},
		{&to_boxes, AT, "0x5000 -> [{x=1, y=2}, {x=3, y=4}]", 1},
		{&to_to_int, AT, "0x5000 -> 0x200000001", 1},
		{&ref_point, AT, "{x=1, y=2}", 1},
		{&ref_int, AT + 8, "3", 1},
		{&ref_byte, AT, "1", 1},
		{&ref_int, 0x9000, "0x9000 (unreadable)", 1},
		{&ref_int, 0, "NULL", 0},
		{&ref_pointer, AT, "0x200000001", 1},
	};
	struct fake_task task;

	fake_begin(&task, &wide);
	fake_memory(&task, AT, bytes, sizeof(bytes));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_text(fake_value(&task, rows[i].type, &rows[i].address, 8, 0), rows[i].text);
		assert_int_equal(task.reads, rows[i].reads);
	}
}

/* Of a large value only the shown part is read. If the memory ends within this part, the rest is shown as
 * unreadable. */
static void test_large_values_are_read_only_as_far_as_shown(void **state)
{
	static const struct data_member members[] = {{.name = "first", .type = &int32},
						     {.name = "last", .type = &int32, .offset = 2396}};
	static const struct data_type large = {.kind = DATA_STRUCT,
					       .size = 2400,
					       .members = members,
					       .member_count = 2},
				      pointer = {.kind = DATA_POINTER, .size = 8, .target = &large},
				      reference = {.kind = DATA_REFERENCE, .size = 8, .target = &large};
	static const unsigned char bytes[2400] = {7};
	const uint64_t address = AT, end = AT + 2000;
	struct fake_task task;

	fake_begin(&task, &wide);
	fake_memory(&task, AT, bytes, sizeof(bytes));
	assert_text(fake_value(&task, &pointer, &address, 8, 0), "0x5000 -> {first=7, last=...}");
	assert_text(fake_value(&task, &reference, &address, 8, 0), "{first=7, last=...}");
	assert_text(fake_value(&task, &pointer, &end, 8, 0), "0x57d0 -> {first=0, last=(unreadable)}");
}

static void test_member_pointers_are_shown(void **state)
{
	static const struct data_type datum = {.kind = DATA_MEMBER_POINTER, .size = 8},
				      method = {.kind = DATA_MEMBER_POINTER, .size = 16},
				      narrow_datum = {.kind = DATA_MEMBER_POINTER, .size = 4};
	static const uint64_t plain[] = {0x401136, 0}, adjusted[] = {0x401200, 8}, none[] = {0, 0};
	struct fake_task task;

	assert_shown(&datum, (uint64_t)24, "0x18");
	assert_shown(&datum, UINT64_MAX, "0xffffffffffffffff");
	assert_text(text_of(&method, plain, 16), "0x401136 <compare>");
	assert_text(text_of(&method, adjusted, 16), "0x401200+0x8");
	assert_text(text_of(&method, none, 16), "NULL");
	fake_begin(&task, &narrow);
	assert_text(fake_value(&task, &narrow_datum, plain, 4, 0), "0x401136");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integers_of_all_widths_are_shown),
		cmocka_unit_test(test_characters_are_escaped),
		cmocka_unit_test(test_floats_are_shown_as_short_as_possible),
		cmocka_unit_test(test_extended_floats_are_shown),
		cmocka_unit_test(test_complex_numbers_are_shown),
		cmocka_unit_test(test_enum_values_are_shown_by_name),
		cmocka_unit_test(test_struct_members_are_shown_by_name),
		cmocka_unit_test(test_bit_fields_are_shown),
		cmocka_unit_test(test_values_in_the_other_byte_order_are_shown),
		cmocka_unit_test(test_arrays_and_nesting_are_cut_at_their_limits),
		cmocka_unit_test(test_long_structs_are_cut_with_closed_brackets),
		cmocka_unit_test(test_data_at_pointers_is_shown),
		cmocka_unit_test(test_member_pointers_are_shown),
		cmocka_unit_test(test_large_values_are_read_only_as_far_as_shown),
		cmocka_unit_test(test_every_16_bit_float_reads_back_as_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
