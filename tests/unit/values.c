/* Tests how ids, sizes and results are read from a call: which bits of arguments, of the result and of memory count. */
#include "config.h"
#include "calls/call_numbers.h"
#include "unit_test.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define JUNK    0x5ca1ab1e00000000u
#define MINUS_1 0xffffffffu

static const struct arch wide = {.pointer_size = 8}, narrow = {.pointer_size = 4};
static struct process p64 = {.arch = &wide, .mem_fd = -1}, p32 = {.arch = &narrow, .mem_fd = -1};
static const struct resource block = {.type = "memory"}, fd = {.type = "fd", .zero_is_id = true};

static uint64_t argument_value(struct process *p, const struct value *value, const uint64_t *args)
{
	return value_of(&(struct operands){.p = p, .args = args}, value);
}

static bool id_of(struct process *p, const struct resource *kind, const struct value *value, const uint64_t *args,
		  uint64_t *id)
{
	const struct probe_spec row = {.kind = kind};

	return value_id(&(struct operands){.p = p, .row = &row, .args = args}, value, id);
}

static bool succeeds(const struct process *p, unsigned success, unsigned result, uint64_t raw)
{
	const struct function f = {.success = (unsigned char)success, .result = (unsigned char)result};

	return value_is_success(p, &f, value_result(p, &f, raw));
}

static void test_success_depends_on_the_results_type(void **state)
{
	/* The upper bits of a bool and the upper half of an int are undefined; the upper bits of a word are part of
	 * it. */
	assert_false(succeeds(&p64, OK_NONZERO, TYPE_UINT8, 0x100));
	assert_false(succeeds(&p64, OK_NOT_NEGATIVE, TYPE_INT8, 0xff));
	assert_true(succeeds(&p64, OK_NOT_NEGATIVE, TYPE_INT16, 0xff));
	assert_true(succeeds(&p64, OK_ZERO, TYPE_INT, JUNK));
	assert_false(succeeds(&p64, OK_ZERO, TYPE_WORD, JUNK));
	assert_true(succeeds(&p32, OK_ZERO, TYPE_WORD, JUNK));
	assert_false(succeeds(&p64, OK_NONZERO, TYPE_INT, JUNK));
	assert_true(succeeds(&p64, OK_NONZERO, TYPE_WORD, JUNK));
	assert_false(succeeds(&p64, OK_NOT_MINUS_1, TYPE_INT, JUNK | MINUS_1));
	assert_false(succeeds(&p64, OK_NOT_MINUS_1, TYPE_UINT, JUNK | MINUS_1));
	/* mmap() that returns an address which ends in 32 ones has not failed. */
	assert_true(succeeds(&p64, OK_NOT_MINUS_1, TYPE_WORD, MINUS_1));
	assert_false(succeeds(&p64, OK_NOT_MINUS_1, TYPE_WORD, UINT64_MAX));
	assert_false(succeeds(&p32, OK_NOT_MINUS_1, TYPE_WORD, MINUS_1));
	assert_true(succeeds(&p64, OK_ALWAYS, TYPE_INT, JUNK | MINUS_1));
}

static void test_arguments_are_read_by_type(void **state)
{
	const uint64_t args[CALL_ARGS] = {JUNK | 5, JUNK | MINUS_1, 7};
	const struct value word = ARG(0), number = ARG_INT(0), negative = ARG_INT(1), none = {.kind = VALUE_NONE};
	const struct value product = {VALUE_ARG_TIMES, 0, 2, TYPE_UINT, 0}, constant = CONST(200);
	const struct value mixed = {VALUE_ARG_TIMES, 2, 0, TYPE_WORD, TYPE_UINT};
	const struct value byte = {VALUE_ARG, 1, 0, TYPE_UINT8, 0}, half = {VALUE_ARG, 1, 0, TYPE_INT16, 0};

	assert_int_equal(argument_value(&p64, &word, args), JUNK | 5);
	assert_int_equal(argument_value(&p32, &word, args), 5);
	assert_int_equal(argument_value(&p64, &number, args), 5);
	assert_true(argument_value(&p64, &negative, args) == UINT64_MAX);
	assert_int_equal(argument_value(&p64, &product, args), 35);
	assert_int_equal(argument_value(&p64, &mixed, args), 35);
	assert_int_equal(argument_value(&p64, &byte, args), 255);
	assert_true(argument_value(&p64, &half, args) == UINT64_MAX);
	assert_int_equal(argument_value(&p64, &constant, args), 200);
	assert_int_equal(argument_value(&p64, &none, args), 0);
}

static void test_null_is_no_id(void **state)
{
	const uint64_t args[CALL_ARGS] = {JUNK, 0};
	const struct value null = ARG(1), zero = ARG_INT(0), none = {.kind = VALUE_NONE};
	uint64_t id = 1;

	assert_false(id_of(&p64, &block, &null, args, &id));
	assert_false(id_of(&p64, &fd, &none, args, &id));
	assert_true(id_of(&p64, &fd, &zero, args, &id));
	assert_int_equal(id, 0);
}

/* A tag of a block's pointer is not part of the block's id. An id of another kind keeps bits that look like a tag. */
static void test_tags_are_no_part_of_a_blocks_id(void **state)
{
	static const struct arch tagging = {.pointer_size = 8, .tags.bits = 8};
	struct process p = {.arch = &tagging, .mem_fd = -1};
	const uint64_t args[CALL_ARGS] = {0x0b00ffff12345670u, 0x0b00000000000000u};
	const struct value pointer = ARG(0), null = ARG(1);
	uint64_t id;

	assert_true(id_of(&p, &block, &pointer, args, &id));
	assert_int_equal(id, 0xffff12345670u);
	assert_false(id_of(&p, &block, &null, args, &id));
	assert_true(id_of(&p, &fd, &pointer, args, &id));
	assert_int_equal(id, args[0]);
	assert_true(id_of(&p64, &block, &pointer, args, &id));
	assert_int_equal(id, args[0]);

	/* The tag of a pointer is not part of the address from which memory is read either. */
	const uint64_t word = 0x0500ffff00000010u, places[CALL_ARGS] = {0x0700000000000000u};
	const struct value pointee = POINTEE(0, 0);

	p.mem_fd = memfd_create("memory", 0);
	assert_int_equal(write(p.mem_fd, &word, sizeof(word)), sizeof(word));
	assert_true(id_of(&p, &block, &pointee, places, &id));
	assert_int_equal(id, 0xffff00000010u);
	close(p.mem_fd);
}

/* The process's memory is an array of ints in a file. */
static void test_pointees_are_read_from_memory(void **state)
{
	const int32_t pair[] = {0, 12, -1};
	const uint64_t args[CALL_ARGS] = {0, 1u << 20};
	const struct value first = POINTEE_INT(0, 0), second = POINTEE_INT(0, 1), third = POINTEE_INT(0, 2),
			   word = POINTEE(0, 0);
	const struct value unreadable = POINTEE_INT(1, 0);
	const struct value byte = {VALUE_POINTEE, 0, 4, TYPE_UINT8, 0}, half = {VALUE_POINTEE, 0, 5, TYPE_UINT16, 0};
	uint64_t id;

	p64.mem_fd = memfd_create("memory", 0);
	assert_int_equal(write(p64.mem_fd, pair, sizeof(pair)), sizeof(pair));
	assert_int_equal(argument_value(&p64, &word, args), 12ull << 32);
	assert_true(id_of(&p64, &fd, &first, args, &id));
	assert_int_equal(id, 0);
	assert_int_equal(argument_value(&p64, &second, args), 12);
	assert_true(argument_value(&p64, &third, args) == UINT64_MAX);
	assert_int_equal(argument_value(&p64, &byte, args), 12);
	assert_int_equal(argument_value(&p64, &half, args), 0xffff);
	/* A descriptor that cannot be read is not descriptor 0. */
	assert_false(id_of(&p64, &fd, &unreadable, args, &id));
	close(p64.mem_fd);
}

/* The kernel writes the registers of a 32-bit process as 32-bit words. */
static void test_registers_are_read_as_words(void **state)
{
	const struct arch of_32 = {.pointer_size = 4}, of_64 = {.pointer_size = 8};
	const uint32_t packed[] = {11, 12, 13, 0xfffffff4};
	struct arch_regs regs = {.words = {21, 22, 1ull << 32}};

	assert_int_equal(arch_register(&of_64, &regs, 1), 22);
	assert_true(arch_register(&of_64, &regs, 2) == 1ull << 32);
	memcpy(regs.words, packed, sizeof(packed));
	assert_int_equal(arch_register(&of_32, &regs, 0), 11);
	assert_int_equal(arch_register(&of_32, &regs, 1), 12);
	assert_true(arch_register(&of_32, &regs, 3) == 0xfffffff4);
}

static uint64_t result_of(struct process *p, const struct value *value, uint64_t result)
{
	return value_of(&(struct operands){.p = p, .result = result}, value);
}

/* The size of a string includes its end. Characters have 1 or 4 bytes; a string may be longer than a single read, or
 * have no end. */
static void test_sizes_of_strings_include_their_end(void **state)
{
	static char memory[10000] = "abc";
	static const uint32_t broad[] = {'a', 0x10000, 0x00ffffff, 0, 'b'};
	const uint64_t args[CALL_ARGS] = {0, 16, 40, 9996, 1u << 20, 3};
	const struct value first = STRING_SIZE(0), words = WIDE_SIZE(1), large = STRING_SIZE(2),
			   endless = STRING_SIZE(3), nowhere = STRING_SIZE(4), empty = STRING_SIZE(5),
			   result = RESULT_STRING_SIZE, wide_result = RESULT_WIDE_SIZE, name = NAME_OF(0),
			   other = NAME_OF(2), none = NAME_OF(4);

	memcpy(memory + 16, broad, sizeof(broad));
	memset(memory + 40, 'x', sizeof(memory) - 40);
	memory[9000] = '\0';
	p64.mem_fd = memfd_create("memory", 0);
	assert_int_equal(write(p64.mem_fd, memory, sizeof(memory)), sizeof(memory));
	assert_int_equal(argument_value(&p64, &first, args), 4);
	assert_int_equal(argument_value(&p64, &empty, args), 1);
	assert_int_equal(argument_value(&p64, &words, args), 16);
	assert_int_equal(argument_value(&p64, &large, args), 9000 - 40 + 1);
	assert_int_equal(argument_value(&p64, &endless, args), 0);
	assert_int_equal(argument_value(&p64, &nowhere, args), 0);
	assert_int_equal(result_of(&p64, &result, 1), 3);
	assert_int_equal(result_of(&p64, &wide_result, 24), 8);
	assert_true(argument_value(&p64, &name, args) && argument_value(&p64, &name, args) <= UINT32_MAX);
	/* A name without an end within a page is not a name. */
	assert_int_equal(argument_value(&p64, &other, args), 0);
	assert_int_equal(argument_value(&p64, &none, args), 0);
	close(p64.mem_fd);
}

/* Leading slashes are not part of a name; slashes within it are. */
static void test_names_ignore_leading_slashes(void **state)
{
	static const char memory[] = "/name\0name\0//name\0na/me\0/";
	const uint64_t args[CALL_ARGS] = {0, 6, 11, 18, 24};
	const struct value slash = NAME_OF(0), plain = NAME_OF(1), two = NAME_OF(2), within = NAME_OF(3),
			   empty = NAME_OF(4);

	p64.mem_fd = memfd_create("memory", 0);
	assert_int_equal(write(p64.mem_fd, memory, sizeof(memory)), sizeof(memory));
	assert_true(argument_value(&p64, &slash, args) == argument_value(&p64, &plain, args));
	assert_true(argument_value(&p64, &two, args) == argument_value(&p64, &plain, args));
	assert_true(argument_value(&p64, &within, args) != argument_value(&p64, &plain, args));
	assert_true(argument_value(&p64, &empty, args) != 0);
	close(p64.mem_fd);
}

static void test_scaled_values_saturate(void **state)
{
	const uint64_t args[CALL_ARGS] = {7, UINT64_MAX / 2};
	const struct value four = ARG_SCALED(0, 4), huge = ARG_SCALED(1, 4), words = RESULT_SCALED(1, 4);

	assert_int_equal(argument_value(&p64, &four, args), 28);
	assert_true(argument_value(&p64, &huge, args) == UINT64_MAX);
	assert_int_equal(result_of(&p64, &words, 9), 40);
	assert_true(result_of(&p64, &words, UINT64_MAX) == UINT64_MAX);
}

static bool holds(const struct function *f, const uint64_t *args)
{
	const struct probe_spec row = {.function = f, .resource = 1};

	return value_conditions_hold(&(struct operands){.p = &p64, .row = &row, .args = args});
}

static void test_joined_conditions_hold(void **state)
{
	const uint64_t args[CALL_ARGS] = {JUNK | 5, 0x31, JUNK | MINUS_1};
	const struct function none = {0}, equal = {.conditions = {{TEST_EQUALS, 0, false, ARG_INT(0), CONST(5)}}},
			      differ = {.conditions = {{TEST_DIFFERS, 0, false, ARG_INT(0), CONST(5)}}},
			      at_most = {.conditions = {{TEST_AT_MOST, 0, false, ARG_UINT(0), ARG_UINT(2)}}},
			      has = {.conditions = {{TEST_HAS, 0, false, ARG(1), CONST(0x30)}}},
			      lacks = {.conditions = {{TEST_LACKS, 0, false, ARG(1), CONST(0x32)}}};
	/* In these rows the first or the second condition must hold, and also the third. */
	const struct function either = {.conditions = {{TEST_EQUALS, 0, true, ARG_INT(0), CONST(4)},
						       {TEST_EQUALS, 0, false, ARG_INT(0), CONST(5)},
						       {TEST_HAS, 0, false, ARG(1), CONST(1)}}},
			      neither = {.conditions = {{TEST_EQUALS, 0, true, ARG_INT(0), CONST(4)},
							{TEST_EQUALS, 0, false, ARG_INT(0), CONST(6)},
							{TEST_HAS, 0, false, ARG(1), CONST(1)}}},
			      first = {.conditions = {{TEST_EQUALS, 0, true, ARG_INT(0), CONST(5)},
						      {TEST_EQUALS, 0, false, ARG_INT(0), CONST(6)},
						      {TEST_HAS, 0, false, ARG(1), CONST(2)}}};

	const struct function first_only = {.conditions = {{TEST_EQUALS, 0, true, ARG_INT(0), CONST(5)},
							   {TEST_EQUALS, 0, false, ARG_INT(0), CONST(6)}}};

	assert_true(holds(&first_only, args));
	assert_true(holds(&none, args));
	assert_true(holds(&equal, args));
	assert_false(holds(&differ, args));
	assert_true(holds(&at_most, args));
	assert_true(holds(&has, args));
	assert_true(holds(&lacks, args));
	assert_true(holds(&either, args));
	assert_false(holds(&neither, args));
	assert_false(holds(&first, args));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers_are_read_as_words),
		cmocka_unit_test(test_success_depends_on_the_results_type),
		cmocka_unit_test(test_arguments_are_read_by_type),
		cmocka_unit_test(test_null_is_no_id),
		cmocka_unit_test(test_pointees_are_read_from_memory),
		cmocka_unit_test(test_sizes_of_strings_include_their_end),
		cmocka_unit_test(test_names_ignore_leading_slashes),
		cmocka_unit_test(test_scaled_values_saturate),
		cmocka_unit_test(test_joined_conditions_hold),
		cmocka_unit_test(test_tags_are_no_part_of_a_blocks_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
