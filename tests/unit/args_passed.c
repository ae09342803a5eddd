/* Tests parameters that are not passed as C's ABI says: those of Rust, and those that a compiler has moved, split or
 * omitted.
 */
#include "config.h"
#include "args/plan.h"
#include "args_util.h"

static const struct data_type int32 = {.kind = DATA_INT, .size = 4, .align = 4, .is_signed = true, .name = "i32"},
			      uint8 = {.kind = DATA_INT, .size = 1, .align = 1, .name = "u8"},
			      double_type = {.kind = DATA_FLOAT, .size = 8, .align = 8, .name = "f64"},
			      character = {.kind = DATA_CHAR, .size = 1, .align = 1, .name = "char"};
static const struct data_member pair_members[] = {{.name = "x", .type = &int32},
						  {.name = "y", .type = &int32, .offset = 4}},
				tuple_members[] = {{.name = "__0", .type = &int32},
						   {.name = "__1", .type = &uint8, .offset = 4}},
				mixed_members[] = {{.name = "d", .type = &double_type},
						   {.name = "i", .type = &int32, .offset = 8}},
				one_member[] = {{.name = "__0", .type = &int32, .offset = 4}},
				named_member[] = {{.name = "code", .type = &uint8, .offset = 4}};
#define STRUCT(bytes, list)                                                                                            \
	{                                                                                                              \
		.kind = DATA_STRUCT, .size = (bytes), .align = 4, .members = (list), .member_count = ARRAY_SIZE(list)  \
	}
static const struct data_type pair = STRUCT(8, pair_members), tuple = STRUCT(8, tuple_members),
			      mixed = STRUCT(16, mixed_members), some = STRUCT(8, one_member),
			      failure = STRUCT(8, named_member), nothing = {.kind = DATA_STRUCT, .size = 8};

/* ---- Rust's values ---- */

static const char *text_of(const struct data_type *type, const void *bytes, size_t size)
{
	static const struct arch wide = {.pointer_size = 8};
	static struct fake_task task;

	fake_begin(&task, &wide);
	return fake_value(&task, type, bytes, size, 0);
}

static void test_rust_enums_show_their_variant(void **state)
{
	static const struct data_member discriminant = {.name = "", .type = &int32};
	static const struct data_variant variants[] = {{.name = "None", .type = &nothing, .value = 0},
						       {.name = "Some", .type = &some, .value = 1},
						       {.name = "Failed", .type = &failure, .value = UINT64_MAX},
						       {.name = "Odd", .type = NULL, .value = 5}},
					 niche[] = {{.name = "None", .type = &nothing, .value = 0},
						    {.name = "Some", .type = &some, .is_other = true}};
	const struct data_type tagged = {.kind = DATA_STRUCT,
					 .size = 8,
					 .has_variants = true,
					 .discriminant = &discriminant,
					 .variants = variants,
					 .variant_count = ARRAY_SIZE(variants)},
			       hidden = {.kind = DATA_STRUCT,
					 .size = 8,
					 .has_variants = true,
					 .discriminant = &discriminant,
					 .variants = niche,
					 .variant_count = ARRAY_SIZE(niche)},
			       single = {.kind = DATA_STRUCT,
					 .size = 8,
					 .has_variants = true,
					 .variants = &variants[1],
					 .variant_count = 1},
			       unknown = {.kind = DATA_STRUCT, .size = 8, .has_variants = true},
			       cut = {.kind = DATA_STRUCT,
				      .size = 8,
				      .is_cut = true,
				      .members = pair_members,
				      .member_count = 2};
	const int32_t none[] = {0, 7}, with[] = {1, 7}, failed[] = {-1, 7}, odd[] = {5, 7}, wild[] = {9, 7};
	const struct data_type pointer = {.kind = DATA_POINTER, .size = 8, .target = &tagged};
	const uint64_t at = 0x1000;
	struct fake_task task;

	assert_text(text_of(&tagged, none, 8), "None");
	assert_text(text_of(&tagged, with, 8), "Some(7)");
	assert_text(text_of(&tagged, failed, 8), "Failed{code=7}");
	assert_text(text_of(&tagged, odd, 8), "Odd");
	assert_text(text_of(&tagged, wild, 8), "{...}");
	assert_text(text_of(&tagged, with, 2), "{...}");
	assert_text(text_of(&tagged, with, 4), "Some((unreadable))");
	assert_text(text_of(&hidden, wild, 8), "Some(7)");
	assert_text(text_of(&hidden, none, 8), "None");
	assert_text(text_of(&single, none, 8), "Some(7)");
	assert_text(text_of(&unknown, none, 8), "{...}");
	assert_text(text_of(&cut, none, 8), "{x=0, y=7, ...}");
	assert_text(text_of(&tuple, with, 8), "(1, 7)");
	fake_begin(&task, &(struct arch){.pointer_size = 8});
	fake_memory(&task, at, with, 8);
	assert_text(fake_value(&task, &pointer, &at, 8, 0), "0x1000 -> Some(7)");
}

/* ---- Rust's places ---- */

/* Each scalar is an argument of its own: each integer of a pair has a register, while C could pass both in one. */
static void test_rust_scalars_have_registers_of_their_own(void **state)
{
	static const struct passed_as two = {.count = 2, .scalars = {{.size = 4}, {.offset = 4, .size = 4}}},
				      odd = {.count = 2, .scalars = {{.size = 4}, {.offset = 4, .size = 3}}},
				      one = {.count = 1, .scalars = {{.size = 4}}}, memory = {.by_address = true},
				      none = {.count = 0};
	static const struct data_type unit = {.kind = DATA_STRUCT, .name = "()"};
	const struct signature_param params[] = {{.name = "pair", .type = &pair, .passed = two},
						 {.name = "unit", .type = &unit, .passed = none},
						 {.name = "tuple", .type = &tuple, .passed = odd},
						 {.name = "mixed", .type = &mixed, .passed = memory},
						 {.name = "last", .type = &int32, .passed = one}};
	const struct signature signature = {.params = params, .param_count = ARRAY_SIZE(params), .abi_is_rust = true};
	const struct {
		double d;
		int32_t i, end;
	} both = {2.5, 6, 0};
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		struct args_plan *plan = args_plan_of_signature(arch, &signature, false);

		fake_begin(&task, arch);
		fake_memory(&task, 0x1000, &both, sizeof(both));
		fake_argument(&task, 0, JUNK | 3);
		fake_argument(&task, 1, JUNK | (uint32_t)-4);
		fake_argument(&task, 2, JUNK | 5);
		fake_argument(&task, 3, JUNK | 0xff000006);
		fake_argument(&task, 4, 0x1000);
		fake_argument(&task, 5, JUNK | 9);
		assert_text(fake_entry(&task, plan),
			    "pair={x=3, y=-4}, unit={}, tuple=(5, 6), mixed={d=2.5, i=6}, last=9");
		assert_int_equal(task.reads, 1 + (arch->convention.argument_registers < 6));
		args_plan_free(plan);
		fake_end(&task);
	}
}

static void set_result_register(struct fake_task *task, unsigned index, uint64_t value)
{
	const struct arch_regs before = task->regs;
	const uint64_t other = ~task->arch->abi->result_register(&before, index);

	for (unsigned word = 0; word < 36; word++) {
		if (task->arch->pointer_size == 8)
			task->regs.words[word] = other;
		else
			task->regs.narrow[word] = (uint32_t)other;
		const bool is_it = (uint32_t)task->arch->abi->result_register(&task->regs, index) == (uint32_t)other;

		task->regs = before;
		if (is_it && task->arch->pointer_size == 8)
			task->regs.words[word] = value;
		else if (is_it)
			task->regs.narrow[word] = (uint32_t)value;
		if (is_it)
			return;
	}
	fail_msg("no register is result %u", index);
}

static void test_rust_results_are_read_from_registers_or_memory(void **state)
{
	struct signature signature = {.abi_is_rust = true, .result = &pair};
	const int32_t bytes[] = {3, -4};
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		const struct passed_as two = {.count = 2, .scalars = {{.size = 4}, {.offset = 4, .size = 4}}},
				       memory = {.by_address = true},
				       three = {.count = 2, .scalars = {{.size = 16}, {.size = 4}}};
		struct args_plan *plan;

		signature.result_passed = two;
		plan = args_plan_of_signature(arch, &signature, false);
		fake_begin(&task, arch);
		set_result_register(&task, 0, JUNK | 3);
		set_result_register(&task, 1, JUNK | (uint32_t)-4);
		fake_entry(&task, plan);
		assert_text(fake_return(&task, plan, false), "return={x=3, y=-4}");
		args_plan_free(plan);

		signature.result_passed = memory;
		plan = args_plan_of_signature(arch, &signature, false);
		assert_true(plan->result.place.is_address);
		fake_memory(&task, 0x1000, bytes, sizeof(bytes));
		task.kept.result_at = 0x1000;
		assert_text(fake_return(&task, plan, false), "return={x=3, y=-4}");
		args_plan_free(plan);

		/* a result that does not fit the registers for results */
		signature.result_passed = three;
		plan = args_plan_of_signature(arch, &signature, false);
		assert_text(fake_return(&task, plan, false), "return=<unknown place>");
		args_plan_free(plan);
		fake_end(&task);
	}
}

/* ---- A compiler's places ---- */

/* Returns the DWARF number of the second floating point register. */
static unsigned float_register(const struct arch *arch)
{
	return arch == &arch_aarch64 ? 65 : arch == &arch_arm ? 257 : arch->pointer_size == 8 ? 18 : 22;
}

static void test_places_in_debug_information_replace_the_abi(void **state)
{
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		const unsigned sp = arch->dwarf.sp;
		const struct place_piece
			first[] = {{.place = PLACE_REGISTER, .place_register = sp, .size = 4}},
			last[] = {{.place = PLACE_NOWHERE, .size = 4},
				  {.place = PLACE_CONSTANT, .place_offset = 77, .offset = 4, .size = 4}},
			both[] = {{.place = PLACE_MEMORY, .place_register = sp, .place_offset = 8, .size = 4},
				  {.place = PLACE_STACK, .place_offset = 16, .offset = 4, .size = 4}},
			wild[] = {{.place = PLACE_CONSTANT, .place_offset = 1, .size = 4},
				  {.place = PLACE_REGISTER, .place_register = 999, .offset = 4, .size = 4}},
			beyond[] = {{.place = PLACE_CONSTANT, .offset = 100, .size = 4},
				    {.place = PLACE_CONSTANT, .offset = 4, .size = UINT32_MAX}};
#define PIECES(called, list)                                                                                           \
	{                                                                                                              \
		.name = (called), .type = &pair, .place = PLACE_PIECES, .pieces = (list),                              \
		.piece_count = ARRAY_SIZE(list)                                                                        \
	}
		const struct signature_param params[] = {
			{.name = "gone", .type = &double_type, .place = PLACE_NOWHERE},
			{.name = "constant", .type = &int32, .place = PLACE_CONSTANT, .place_offset = -5},
			{.name = "float",
			 .type = &double_type,
			 .place = PLACE_REGISTER,
			 .place_register = float_register(arch)},
			{.name = "memory",
			 .type = &int32,
			 .place = PLACE_MEMORY,
			 .place_register = sp,
			 .place_offset = 8},
			PIECES("first", first),
			PIECES("last", last),
			PIECES("both", both),
			PIECES("wild", wild),
			PIECES("beyond", beyond),
			{.name = "passed", .type = &int32},
		};
		const struct signature signature = {.params = params, .param_count = ARRAY_SIZE(params)},
				       plain = {.params = &params[9], .param_count = 1},
				       few = {.params = &params[0], .param_count = 2};
		struct args_plan *plan = args_plan_of_signature(arch, &signature, false);
		const int32_t number = 42;
		const double half = 0.5;

		fake_begin(&task, arch);
		task.floats_size = sizeof(task.floats);
		memcpy(task.floats + arch->abi->float_at(float_register(arch)), &half, sizeof(half));
		memcpy(task.stack + STACK_SIZE / 2 + 8, &number, 4);
		memcpy(task.stack + (arch->convention.return_sp(&task.regs) + 16 - STACK_AT), &number, 4);
		fake_entry(&task, plan);
		assert_non_null(strstr(task.text, ", passed="));
		*strstr(task.text, ", passed=") = '\0';
		assert_text(task.text, "gone=<optimised out>, constant=-5, float=0.5, memory=42, "
				       "first={x=8386560, y=<optimised out>}, "
				       "last={x=<optimised out>, y=77}, both={x=42, y=42}, wild={x=1, y=(unreadable)}, "
				       "beyond={x=<optimised out>, y=0}");
		args_plan_free(plan);

		plan = args_plan_of_signature(arch, &plain, false);
		fake_argument(&task, 0, JUNK | 3);
		assert_text(fake_entry(&task, plan), "passed=3");
		args_plan_free(plan);
		plan = args_plan_of_signature(arch, &few, false);
		assert_text(fake_entry(&task, plan), "gone=<optimised out>, constant=-5");
		assert_int_equal(task.reads, 0);
		args_plan_free(plan);
		fake_end(&task);
	}
}

/* Tests parameters that are not in pieces, at the places that debug information gives. */
static void test_whole_parameters_are_read_at_their_places(void **state)
{
	const int32_t minus_42 = -42;
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		struct signature_param params[] = {
			{.name = "a", .type = &int32, .place = PLACE_NOWHERE},
			{.name = "b", .type = &int32, .place = PLACE_STACK, .place_offset = 16},
			{.name = "c", .type = &pair, .place = PLACE_STACK, .place_offset = -0x100000},
			{.name = "d", .type = &int32, .place = PLACE_REGISTER, .place_register = arch->dwarf.sp},
			{.name = "e", .type = &int32, .place = PLACE_REGISTER, .place_register = 1000},
			{.name = "f", .type = &mixed, .place = PLACE_REGISTER, .place_register = arch->dwarf.sp},
			{.name = "g", .type = &mixed, .place = PLACE_CONSTANT, .place_offset = -5},
		};
		const struct signature signature = {.params = params, .param_count = ARRAY_SIZE(params)};
		struct args_plan *plan = args_plan_of_signature(arch, &signature, false);
		size_t at;

		fake_begin(&task, arch);
		at = arch->convention.return_sp(&task.regs) + 16 - STACK_AT;
		memcpy(task.stack + at, &minus_42, 4);
		assert_text(fake_entry(&task, plan),
			    "a=<optimised out>, b=-42, c={x=(unreadable)}, d=8386560, e=<unknown place>, "
			    "f=<unknown place>, g=<unknown place>");
		args_plan_free(plan);
		fake_end(&task);
	}
}

/* A parameter that the caller omits is still shown in its position. The other parameters are at the places that they
 * would have if it were passed. */
static void test_omitted_parameters_do_not_move_the_others(void **state)
{
	static const struct data_member big_members[] = {{.name = "a", .type = &int32},
							 {.name = "b", .type = &int32, .offset = 28}};
	static const struct data_type big = STRUCT(32, big_members);
	const struct signature_param params[] = {
		{.name = "gone", .type = &int32, .place = PLACE_NOWHERE},
		{.name = "fixed", .type = &int32, .place = PLACE_CONSTANT, .place_offset = 1},
		{.name = "lost", .type = &double_type, .place = PLACE_NOWHERE},
		{.name = "unknown", .type = &pair, .place = PLACE_UNKNOWN},
		{.name = "first", .type = &int32},
		{.name = "second", .type = &character},
		{.name = "third", .type = &double_type}};
	const struct signature_param simple[] = {params[0], params[1], params[4], params[5]};
	struct signature_param used[ARRAY_SIZE(params)];
	const struct data_type *const results[] = {NULL, &int32, &big};
	struct fake_task task;

	for (size_t i = 0; i < ARRAY_SIZE(params); i++)
		used[i] = (struct signature_param){.name = params[i].name, .type = params[i].type};
	FOR_EACH_ARCH(arch)
	{
		for (size_t result = 0; result < ARRAY_SIZE(results); result++) {
			const struct signature left = {.params = params,
						       .param_count = ARRAY_SIZE(params),
						       .result = results[result]},
					       all = {.params = used,
						      .param_count = ARRAY_SIZE(params),
						      .result = results[result]};
			struct args_plan *plan = args_plan_of_signature(arch, &left, false);
			struct args_plan *whole = args_plan_of_signature(arch, &all, false);

			for (size_t i = 0; i < ARRAY_SIZE(params); i++)
				assert_memory_equal(&plan->params[i].place, &whole->params[i].place,
						    sizeof(plan->params[i].place));
			args_plan_free(plan);
			args_plan_free(whole);
		}
		const struct signature signature = {.params = simple, .param_count = ARRAY_SIZE(simple)};
		struct args_plan *plan = args_plan_of_signature(arch, &signature, false);

		fake_begin(&task, arch);
		fake_argument(&task, 2, JUNK | 10);
		fake_argument(&task, 3, JUNK | 'b');
		assert_text(fake_entry(&task, plan), "gone=<optimised out>, fixed=1, first=10, second='b'");
		args_plan_free(plan);
		fake_end(&task);
	}
}

/* Tests parts that are lost: the length of a text whose pointer is known; bit fields and arrays that are in no
 * piece. */
static void test_lost_parts_are_shown_as_optimised_out(void **state)
{
	static const struct data_type text = {.kind = DATA_ARRAY, .size = 4, .target = &character, .count = 4},
				      numbers = {.kind = DATA_ARRAY, .size = 8, .target = &int32, .count = 2};
	static const struct data_member members[] = {{.name = "bits", .type = &int32, .bit_size = 3},
						     {.name = "name", .type = &text, .offset = 4},
						     {.name = "numbers", .type = &numbers, .offset = 8}};
	static const struct data_type whole = STRUCT(16, members);
	static const struct place_piece
		none[] = {{.place = PLACE_NOWHERE, .size = 16}},
		last[] = {{.place = PLACE_CONSTANT, .place_offset = 6, .offset = 12, .size = 4}},
		cut[] = {{.place = PLACE_CONSTANT, .place_offset = 6, .offset = 8, .size = 4},
			 {.place = PLACE_REGISTER, .place_register = 999, .offset = 12, .size = 4}};
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		const unsigned word = arch->pointer_size;
		const struct data_type view = {.kind = DATA_TEXT, .size = 2 * word, .length_at = word};
		const struct place_piece pointer[] = {{.place = PLACE_CONSTANT, .place_offset = TEXT_AT, .size = word}};
		const struct signature_param params[] = {
			{.name = "a", .type = &whole, .place = PLACE_PIECES, .pieces = none, .piece_count = 1},
			{.name = "b", .type = &whole, .place = PLACE_PIECES, .pieces = last, .piece_count = 1},
			{.name = "c", .type = &view, .place = PLACE_PIECES, .pieces = pointer, .piece_count = 1},
			{.name = "d", .type = &whole, .place = PLACE_PIECES, .pieces = cut, .piece_count = 2}};
		const struct signature signature = {.params = params, .param_count = ARRAY_SIZE(params)};
		struct args_plan *plan = args_plan_of_signature(arch, &signature, false);

		fake_begin(&task, arch);
		assert_text(
			fake_entry(&task, plan),
			"a={bits=<optimised out>, name=<optimised out>, numbers=[<optimised out>, <optimised out>]}, "
			"b={bits=<optimised out>, name=<optimised out>, numbers=[<optimised out>, 6]}, "
			"c=<optimised out>, "
			"d={bits=<optimised out>, name=<optimised out>, numbers=[6, (unreadable)]}");
		args_plan_free(plan);
		fake_end(&task);
	}
}

/* A parameter whose type is unknown has no known place, and neither have those after it, unless debug information gives
 * one. */
static void test_places_after_an_unknown_type_are_unknown(void **state)
{
	static const struct data_type lost = {.kind = DATA_OTHER, .align = 1, .name = ""};
	static const struct data_member members[] = {{.name = "x", .type = &int32},
						     {.name = "y", .type = &lost, .offset = 4}};
	static const struct data_type has_lost = STRUCT(8, members);
	const struct signature_param params[] = {{.name = "a", .type = &int32},
						 {.name = "b", .type = &lost},
						 {.name = "c", .type = &int32}},
				     half[] = {{.name = "d", .type = &has_lost},
					       {.name = "e", .type = &int32, .said = PLACE_UNKNOWN},
					       {.name = "f", .type = &int32, .said = PLACE_STACK, .place_offset = 16}};
	const struct signature signature = {.params = params, .param_count = ARRAY_SIZE(params)},
			       members_lost = {.params = half, .param_count = ARRAY_SIZE(half)},
			       result_lost = {.params = params, .param_count = 1, .result = &lost};
	struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		const bool is_apart =
			arch == &arch_aarch64; /* the address of a result is not in an argument's register */
		struct args_plan *plan = args_plan_of_signature(arch, &signature, false);

		fake_begin(&task, arch);
		task.stack[arch->convention.return_sp(&task.regs) + 16 - STACK_AT] = 6;
		fake_argument(&task, 0, 7);
		assert_text(fake_entry(&task, plan), "a=7, b=<unknown type>, c=<unknown place>");
		args_plan_free(plan);
		plan = args_plan_of_signature(arch, &members_lost, false);
		assert_text(fake_entry(&task, plan), "d=<unknown place>, e=<unknown place>, f=6");
		args_plan_free(plan);
		plan = args_plan_of_signature(arch, &result_lost, false);
		assert_text(fake_entry(&task, plan), is_apart ? "a=7" : "a=<unknown place>");
		assert_text(fake_return(&task, plan, false), "return=<unknown type>");
		args_plan_free(plan);
		fake_end(&task);
	}
	fake_begin(&task, fake_arches(&(size_t){0})[0]);
	assert_text(fake_value(&task, &has_lost, "\1\0\0\0\2\0\0\0", 8, 0), "{x=1, y=<unknown type>}");
	fake_end(&task);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rust_enums_show_their_variant),
		cmocka_unit_test(test_rust_scalars_have_registers_of_their_own),
		cmocka_unit_test(test_rust_results_are_read_from_registers_or_memory),
		cmocka_unit_test(test_places_in_debug_information_replace_the_abi),
		cmocka_unit_test(test_whole_parameters_are_read_at_their_places),
		cmocka_unit_test(test_omitted_parameters_do_not_move_the_others),
		cmocka_unit_test(test_lost_parts_are_shown_as_optimised_out),
		cmocka_unit_test(test_places_after_an_unknown_type_are_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
