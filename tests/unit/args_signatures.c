/* Arguments and results of functions that debug information describes: the test stores the bytes of values at the
 * places of each processor's ABI, and compares the text. */
#include "config.h"
#include "args/plan.h"
#include "args_util.h"

#include <elf.h>

static const struct data_type
	int32 = {.kind = DATA_INT, .size = 4, .align = 4, .is_signed = true, .name = "int"},
	int64 = {.kind = DATA_INT, .size = 8, .align = 8, .is_signed = true, .name = "long long"},
	int128 = {.kind = DATA_INT, .size = 16, .align = 16, .is_signed = true, .name = "__int128"},
	int8 = {.kind = DATA_INT, .size = 1, .align = 1, .is_signed = true, .name = "signed char"},
	boolean = {.kind = DATA_BOOL, .size = 1, .align = 1, .name = "bool"},
	character = {.kind = DATA_CHAR, .size = 1, .align = 1, .name = "char"},
	float_type = {.kind = DATA_FLOAT, .size = 4, .align = 4, .name = "float"},
	double_type = {.kind = DATA_FLOAT, .size = 8, .align = 8, .name = "double"};
static const struct data_member point_members[] = {{.name = "x", .type = &int32},
						   {.name = "y", .type = &int32, .offset = 4}},
				mixed_members[] = {{.name = "d", .type = &double_type},
						   {.name = "i", .type = &int32, .offset = 8},
						   {.name = "j", .type = &int32, .offset = 12}},
				floats_members[] = {{.name = "a", .type = &float_type},
						    {.name = "b", .type = &float_type, .offset = 4},
						    {.name = "c", .type = &float_type, .offset = 8}},
				big_members[] = {{.name = "first", .type = &int64},
						 {.name = "last", .type = &int64, .offset = 32}};
static const struct data_type point = {.kind = DATA_STRUCT,
				       .size = 8,
				       .align = 4,
				       .name = "point",
				       .members = point_members,
				       .member_count = 2},
			      mixed = {.kind = DATA_STRUCT,
				       .size = 16,
				       .align = 8,
				       .name = "mixed",
				       .members = mixed_members,
				       .member_count = 3},
			      floats = {.kind = DATA_STRUCT,
					.size = 12,
					.align = 4,
					.name = "floats",
					.members = floats_members,
					.member_count = 3},
			      big = {.kind = DATA_STRUCT,
				     .size = 40,
				     .align = 8,
				     .name = "big",
				     .members = big_members,
				     .member_count = 2},
			      object = {.kind = DATA_STRUCT,
					.size = 8,
					.align = 4,
					.name = "object",
					.by_address = true,
					.members = point_members,
					.member_count = 2},
			      variants = {.kind = DATA_STRUCT, .size = 8, .align = 4, .has_variants = true},
			      complex_float = {.kind = DATA_COMPLEX, .size = 8, .align = 4, .target = &float_type},
			      vector = {.kind = DATA_VECTOR, .size = 16, .align = 16, .target = &int32, .count = 4};

/* ---- Where values are put ---- */

static void put_register(struct fake_task *task, unsigned index, const void *bytes, size_t size, bool is_return)
{
	const struct arch_abi *abi = task->arch->abi;
	uint64_t (*const get)(const struct arch_regs *, unsigned) =
		is_return ? abi->result_register : abi->argument_register;
	const struct arch_regs before = task->regs;
	const uint64_t other = ~get(&before, index);
	const unsigned words = task->arch->pointer_size == 8 ? 36 : 72;
	uint64_t value = JUNK | 0x77777777;

	memcpy(&value, bytes, size < sizeof(value) ? size : sizeof(value));
	for (unsigned word = 0; word < words; word++) {
		if (words == 36)
			task->regs.words[word] = other;
		else
			task->regs.narrow[word] = (uint32_t)other;
		const bool is_it = (uint32_t)get(&task->regs, index) == (uint32_t)other;

		task->regs = before;
		if (!is_it)
			continue;
		if (words == 36)
			task->regs.words[word] = value;
		else
			task->regs.narrow[word] = (uint32_t)value;
		return;
	}
	fail_msg("no register is argument %u", index);
}

/* The x87 register, which always contains 1.5. */
static const unsigned char x87[10] = {0, 0, 0, 0, 0, 0, 0, 0xc0, 0xff, 0x3f};

static void put(struct fake_task *task, const struct abi_place *place, const void *value, bool is_return)
{
	const unsigned char *bytes = value;

	assert_true(place->is_known);
	for (unsigned i = 0; i < place->piece_count; i++) {
		const struct abi_piece *piece = &place->pieces[i];

		switch (piece->kind) {
		case PIECE_INTEGER:
			put_register(task, piece->index, bytes + piece->offset, piece->size, is_return);
			break;
		case PIECE_FLOAT:
			assert_true(piece->at + piece->size <= sizeof(task->floats));
			memcpy(task->floats + piece->at, bytes + piece->offset, piece->size);
			break;
		case PIECE_X87:
			memcpy(task->floats + piece->at, x87, sizeof(x87));
			break;
		default:
			assert_true(piece->at + piece->size <= STACK_SIZE / 2);
			memcpy(task->stack + STACK_SIZE / 2 + piece->at, bytes + piece->offset, piece->size);
			break;
		}
	}
}

/* ---- Functions ---- */

#define PARAMS_MAX 24

/* A parameter with its value. */
struct argument {
	const struct data_type *type;
	const void *bytes;
	const char *name;
};

/* Calls a function with these `count` parameters; returns the text of its arguments. */
static const char *call(struct fake_task *task, const struct argument *arguments, size_t count,
			const struct data_type *result)
{
	struct signature_param params[PARAMS_MAX] = {{0}};
	const struct signature signature = {.params = params, .param_count = count, .result = result};
	struct args_plan *plan;
	const char *text;

	assert_true(count <= PARAMS_MAX);
	for (size_t i = 0; i < count; i++)
		params[i] = (struct signature_param){.name = arguments[i].name, .type = arguments[i].type};
	plan = args_plan_of_signature(task->arch, &signature, false);
	assert_non_null(plan);
	for (size_t i = 0; i < count; i++)
		put(task, &plan->params[i].place, arguments[i].bytes, false);
	text = fake_entry(task, plan);
	args_plan_free(plan);
	return text;
}

#define CALL(result, ...)                                                                                              \
	call(&task, (const struct argument[]){__VA_ARGS__},                                                            \
	     sizeof((struct argument[]){__VA_ARGS__}) / sizeof(struct argument), (result))

/* Returns the text that functrace shows for a result of this type with these bytes. If the ABI returns such a result in
 * memory, the memory is not filled. */
static const char *result_of(struct fake_task *task, const struct data_type *type, const void *bytes)
{
	const struct signature signature = {.result = type};
	struct args_plan *plan = args_plan_of_signature(task->arch, &signature, false);
	const char *text;

	assert_non_null(plan);
	if (plan->has_result && !plan->result.place.is_address)
		put(task, &plan->result.place, bytes, true);
	fake_entry(task, plan);
	text = fake_return(task, plan, false);
	args_plan_free(plan);
	return text;
}

static const int32_t minus_42 = -42, one = 1, pair[] = {3, -4}, four[] = {1, 2, 3, 4};
static const int64_t wide_number = -5000000000, wide_numbers[] = {7, 0, 0, 0, -7}, big_number[] = {1, -1};
static const double half = 0.5, eighth = 0.125;
static const float quarter = 0.25f, three[] = {1, 2.5f, -3}, parts[] = {1.5f, 2};
static const char letter = 'x', yes = 1;
static const struct {
	double d;
	int32_t i, end;
} both = {2.5, 6, 0};

static void test_scalars_are_read_at_their_places(void **state)
{
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		fake_begin(&task, arch);
		task.floats_size = sizeof(task.floats);
		assert_text(CALL(NULL, {&int32, &minus_42, "i"}, {&double_type, &half, "d"}, {&character, &letter, "c"},
				 {&boolean, &yes, "b"}, {&float_type, &quarter, "f"}, {&int64, &wide_number, "l"},
				 {&int8, &minus_42, ""}),
			    "i=-42, d=0.5, c='x', b=true, f=0.25, l=-5000000000, =-42");
		assert_in_range(task.reads, 0, 1);
		/* More arguments than registers. */
		assert_text(CALL(NULL, {&int32, &one, "a"}, {&int64, &wide_number, "b"}, {&int32, &one, "c"},
				 {&int32, &one, "d"}, {&int32, &one, "e"}, {&int32, &one, "f"}, {&int32, &one, "g"},
				 {&int32, &one, "h"}, {&int32, &minus_42, "i"}, {&int64, &wide_number, "j"},
				 {&double_type, &half, "k"}, {&double_type, &half, "l"}, {&double_type, &half, "m"},
				 {&double_type, &half, "n"}, {&double_type, &half, "o"}, {&double_type, &half, "p"},
				 {&double_type, &half, "q"}, {&double_type, &half, "r"}, {&double_type, &eighth, "s"},
				 {&float_type, &quarter, "t"}),
			    "a=1, b=-5000000000, c=1, d=1, e=1, f=1, g=1, h=1, i=-42, j=-5000000000, k=0.5, l=0.5, "
			    "m=0.5, n=0.5, o=0.5, p=0.5, q=0.5, r=0.5, s=0.125, t=0.25");
		assert_int_equal(task.reads, 1);
		if (arch->pointer_size == 8)
			assert_text(CALL(NULL, {&int128, big_number, "i"}, {&vector, four, "v"}),
				    "i=-18446744073709551615, v=[1, 2, 3, 4]");
		fake_end(&task);
	}
}

static void test_structs_are_read_from_registers_or_memory(void **state)
{
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		unsigned char addresses[2][8];
		const uint64_t object_at = 0x1000, big_at = 0x2000;

		memcpy(addresses[0], &object_at, 8);
		memcpy(addresses[1], &big_at, 8);
		fake_begin(&task, arch);
		task.floats_size = sizeof(task.floats);
		fake_memory(&task, object_at, pair, sizeof(pair));
		fake_memory(&task, big_at, wide_numbers, sizeof(wide_numbers));
		assert_text(CALL(NULL, {&point, pair, "p"}, {&mixed, &both, "m"}, {&floats, three, "f"},
				 {&complex_float, parts, "z"}),
			    "p={x=3, y=-4}, m={d=2.5, i=6, j=0}, f={a=1, b=2.5, c=-3}, z=1.5 + 2i");
		/* In memory, except on AArch64, which passes the address of a copy. */
		assert_text(CALL(NULL, {&int32, &one, "i"},
				 {&big, arch == &arch_aarch64 ? (const void *)addresses[1] : wide_numbers, "s"},
				 {&int32, &minus_42, "j"}),
			    "i=1, s={first=7, last=-7}, j=-42");
		assert_int_equal(task.reads, 1);
		/* Types that C++ passes by address. */
		assert_text(CALL(NULL, {&object, addresses[0], "o"}, {&int32, &one, "i"}), "o={x=3, y=-4}, i=1");
		memset(addresses[0], 0, 8);
		assert_text(CALL(NULL, {&object, addresses[0], "o"}), "o=NULL");
		addresses[0][2] = 0x66;
		assert_text(CALL(NULL, {&object, addresses[0], "o"}), "o=0x660000 (unreadable)");
		fake_end(&task);
	}
}

static void test_objects_at_pointers_are_shown(void **state)
{
	const uint64_t text_at = TEXT_AT, object_at = 0x1000, wild = WILD;
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		const unsigned word = arch->pointer_size;
		const struct data_type string = {.kind = DATA_POINTER,
						 .size = word,
						 .align = word,
						 .target = &character},
				       to_point = {.kind = DATA_POINTER, .size = word, .align = word, .target = &point},
				       ref = {.kind = DATA_REFERENCE, .size = word, .align = word, .target = &point},
				       view = {.kind = DATA_TEXT, .size = 2 * word, .align = word, .text_at = word};
		unsigned char view_bytes[16] = {0};

		view_bytes[0] = 3;
		memcpy(view_bytes + word, &text_at, word);
		fake_begin(&task, arch);
		fake_memory(&task, TEXT_AT, "hello", 6);
		fake_memory(&task, object_at, pair, sizeof(pair));
		assert_text(CALL(NULL, {&to_point, &object_at, "this"}, {&string, &text_at, "s"},
				 {&ref, &object_at, "r"}, {&to_point, &wild, "w"}),
			    "this=0x1000 -> {x=3, y=-4}, s=\"hello\", r={x=3, y=-4}, w=0x66660000 (unreadable)");
		/* There is a read for each object, and on i386 one of the stack. */
		assert_int_equal(task.reads, 4 + !arch->convention.argument_registers);
		assert_text(CALL(NULL, {&view, view_bytes, "v"}), "v=\"hel\"");
		assert_int_equal(task.reads, 1 + !arch->convention.argument_registers);
		fake_end(&task);
	}
}

static void test_results_are_read_from_registers(void **state)
{
	static const struct data_type extended = {
		.kind = DATA_FLOAT, .size = 16, .align = 16, .is_extended = true, .name = "long double"};
	const uint64_t text_at = TEXT_AT;
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		const bool is_x86 = arch != &arch_aarch64 && arch != &arch_arm;
		const struct data_type string = {
			.kind = DATA_POINTER, .size = arch->pointer_size, .target = &character};

		fake_begin(&task, arch);
		task.floats_size = sizeof(task.floats);
		fake_memory(&task, TEXT_AT, "hello", 6);
		assert_text(result_of(&task, &int32, &minus_42), "return=-42");
		assert_text(result_of(&task, &int64, &wide_number), "return=-5000000000");
		assert_text(result_of(&task, &boolean, &yes), "return=true");
		assert_text(result_of(&task, &string, &text_at), "return=\"hello\"");
		assert_int_equal(task.reads, 1);
		if (is_x86 && arch->pointer_size == 8)
			assert_text(result_of(&task, &extended, x87), "return=1.5");
		/* On i386 the result is read from the x87 register, which contains 1.5. */
		assert_text(result_of(&task, &double_type, &half),
			    is_x86 && arch->pointer_size == 4 ? "return=1.5" : "return=0.5");
		if (arch->pointer_size == 8) {
			assert_text(result_of(&task, &point, pair), "return={x=3, y=-4}");
			assert_text(result_of(&task, &mixed, &both), "return={d=2.5, i=6, j=0}");
			assert_text(result_of(&task, &floats, three), "return={a=1, b=2.5, c=-3}");
			assert_text(result_of(&task, &complex_float, parts), "return=1.5 + 2i");
		}
		assert_text(result_of(&task, NULL, NULL), "");
		assert_text(result_of(&task, &(struct data_type){.kind = DATA_VOID}, NULL), "");
		fake_end(&task);
	}
}

/* Tests a struct that is returned in memory: its address is known only at the entry. */
static void test_results_in_memory_are_read_at_the_entrys_address(void **state)
{
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		const struct signature_param param = {.name = "i", .type = &int32};
		const struct signature signature = {.params = &param, .param_count = 1, .result = &big};
		struct args_plan *plan = args_plan_of_signature(arch, &signature, false);
		const uint64_t at = 0x2000;

		fake_begin(&task, arch);
		assert_true(plan->result.place.is_address);
		put(&task, &plan->result.place, &at, false);
		put(&task, &plan->params[0].place, &minus_42, false);
		assert_text(fake_entry(&task, plan), "i=-42");
		assert_true(task.kept.result_at == at);
		memset(&task.regs, 0, sizeof(task.regs));
		assert_text(fake_return(&task, plan, false), "return=0x2000 (unreadable)");
		fake_memory(&task, at, wide_numbers, sizeof(wide_numbers));
		assert_text(fake_return(&task, plan, false), "return={first=7, last=-7}");
		assert_int_equal(task.reads, 1);
		args_plan_free(plan);
		fake_end(&task);
	}
}

/* Tests a parameter and a result that are structs with more fields than a processor's rules inspect. */
static void test_structs_with_many_fields_are_read(void **state)
{
	static const struct data_type name = {
		.kind = DATA_ARRAY, .size = 20, .align = 1, .target = &character, .count = 20};
	static const struct data_member members[] = {{.name = "name", .type = &name},
						     {.name = "number", .type = &int32, .offset = 20}};
	static const struct data_type many = {
		.kind = DATA_STRUCT, .size = 24, .align = 4, .name = "many", .members = members, .member_count = 2};
	static const struct {
		char name[20];
		int32_t number;
	} bytes = {"twenty", 20};
	const uint64_t at = 0x2000;
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		const struct signature signature = {.result = &many};
		struct args_plan *plan = args_plan_of_signature(arch, &signature, false);

		fake_begin(&task, arch);
		fake_memory(&task, at, &bytes, sizeof(bytes));
		assert_text(CALL(NULL, {&many, arch == &arch_aarch64 ? (const void *)&at : &bytes, "m"},
				 {&int32, &one, "i"}),
			    "m={name=\"twenty\", number=20}, i=1");
		put(&task, &plan->result.place, &at, false);
		assert_text(fake_entry(&task, plan), "");
		assert_text(fake_return(&task, plan, false), "return={name=\"twenty\", number=20}");
		args_plan_free(plan);
		fake_end(&task);
	}
}

/* Of a struct on the stack only the part that can be shown is read. If the stack ends within that part, the rest is
 * unreadable. */
static void test_large_structs_are_read_only_as_far_as_shown(void **state)
{
	static const struct data_member members[] = {{.name = "first", .type = &int64},
						     {.name = "last", .type = &int64, .offset = 1592}};
	static const struct data_type large = {
		.kind = DATA_STRUCT, .size = 1600, .align = 8, .name = "large", .members = members, .member_count = 2};
	static const struct data_member more[] = {{.name = "first", .type = &int64},
						  {.name = "last", .type = &int64, .offset = 792}};
	static const struct data_type medium = {
		.kind = DATA_STRUCT, .size = 800, .align = 8, .name = "medium", .members = more, .member_count = 2};
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		int64_t numbers[200] = {5, [99] = 6, [199] = 7};

		/* AArch64's ABI passes the addresses of such structs. */
		if (arch == &arch_aarch64)
			continue;
		fake_begin(&task, arch);
		assert_text(CALL(NULL, {&large, numbers, "l"}), "l={first=5, last=...}");
		/* The stack ends within it. */
		task.places[0].size -= STACK_SIZE / 4 + STACK_SIZE / 8;
		assert_text(CALL(NULL, {&large, numbers, "l"}), "l={first=5, last=(unreadable)}");
		/* On ARM the first 16 bytes are in registers. */
		task.places[0].size = STACK_SIZE / 2 + (arch == &arch_arm ? 60 : 80);
		assert_text(CALL(NULL, {&big, wide_numbers, "a"}, {&big, wide_numbers, "b"}),
			    "a={first=7, last=-7}, b={first=7, last=(unreadable)}");
		task.places[0].size = STACK_SIZE;
		assert_text(CALL(NULL, {&medium, numbers, "m"}, {&medium, numbers, "n"}),
			    "m={first=5, last=6}, n={first=5, last=6}");
		/* The first 1024 bytes of the stack are read at once, the second struct by another read. */
		assert_int_equal(task.reads, 2);
		fake_end(&task);
	}
}

/* Tests registers that cannot be read, unknown places, and too many parameters. */
static void test_unreadable_registers_and_unknown_places_are_shown(void **state)
{
	struct signature_param many[100] = {{0}};
	struct signature signature = {.params = many, .param_count = ARRAY_SIZE(many)};
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		struct args_plan *plan;

		fake_begin(&task, arch);
		for (size_t i = 0; i < ARRAY_SIZE(many); i++)
			many[i] = (struct signature_param){.name = NULL, .type = &int32};
		signature.param_count = ARRAY_SIZE(many);
		plan = args_plan_of_signature(arch, &signature, false);
		fake_entry(&task, plan);
		assert_int_equal(task.list->count, 64);
		assert_int_equal(task.reads, 1);
		args_plan_free(plan);

		many[0].type = &double_type;
		many[1].type = &variants;
		many[2].type = NULL;
		signature.param_count = 3;
		plan = args_plan_of_signature(arch, &signature, false);
		fake_entry(&task, plan);
		/* Only on i386 the double is on the stack, which can be read. Elsewhere it is in a floating point
		 * register. */
		if (arch->convention.argument_registers)
			assert_text(task.list->items[0].value, "(unreadable)");
		assert_string_equal(task.list->items[2].name, "");
		assert_text(task.list->items[1].value, "<unknown place>");
		assert_text(task.list->items[2].value, "<unknown place>");
		args_plan_free(plan);
		fake_end(&task);
	}
}

/* Tests a struct that ends in an array of unknown length: LLVM passes it in memory on x86-64; GCC, in registers. */
static void test_structs_with_an_open_array_follow_the_compiler(void **state)
{
	static const struct data_type tail = {.kind = DATA_ARRAY, .align = 4, .target = &int32, .is_open = true};
	static const struct data_member members[] = {{.name = "n", .type = &int32},
						     {.name = "tail", .type = &tail, .offset = 4}};
	static const struct data_type type = {
		.kind = DATA_STRUCT, .size = 4, .align = 4, .name = "open", .members = members, .member_count = 2};
	const struct signature_param params[] = {{.name = "a", .type = &type}, {.name = "b", .type = &int32}};
	struct signature signature = {.params = params, .param_count = 2, .result = &type};
	const struct arch *const arch = arch_for_elf(EM_X86_64, ELFCLASS64);

	if (!arch)
		skip();
	for (unsigned is_gcc = 0; is_gcc < 2; is_gcc++) {
		signature.is_gcc = is_gcc;
		struct args_plan *plan = args_plan_of_signature(arch, &signature, false);

		assert_int_equal(plan->params[0].place.pieces[0].kind, is_gcc ? PIECE_INTEGER : PIECE_STACK);
		assert_int_equal(plan->params[1].place.pieces[0].kind, PIECE_INTEGER);
		assert_int_equal(plan->params[1].place.pieces[0].index, 1); /* LLVM: after the result's address */
		assert_int_equal(plan->result.place.is_address, !is_gcc);
		args_plan_free(plan);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scalars_are_read_at_their_places),
		cmocka_unit_test(test_structs_are_read_from_registers_or_memory),
		cmocka_unit_test(test_objects_at_pointers_are_shown),
		cmocka_unit_test(test_results_are_read_from_registers),
		cmocka_unit_test(test_results_in_memory_are_read_at_the_entrys_address),
		cmocka_unit_test(test_unreadable_registers_and_unknown_places_are_shown),
		cmocka_unit_test(test_large_structs_are_read_only_as_far_as_shown),
		cmocka_unit_test(test_structs_with_an_open_array_follow_the_compiler),
		cmocka_unit_test(test_structs_with_many_fields_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
