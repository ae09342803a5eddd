/* Tests arguments with anything that a program, its debug information and a user's module may contain: wild pointers,
 * memory that ends anywhere, types of absurd sizes, counts and depths, types that contain themselves. The length of
 * every text, and the number of reads, must stay within a limit. */
#include "config.h"
#include "args/module_params.h"
#include "args_util.h"

#include <ctype.h>
#include <stdlib.h>

#define ROUNDS     3000
#define TYPES      24
#define MEMBERS    6
#define PARAMS     10
#define PIECES     4
#define REGION_AT  0x40000u
#define REGION_MAX 2048u

static uint64_t seed = 88172645463325252u;

static uint64_t draw(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return below ? seed % below : 0;
}

/* Draws one of these values in most cases, else any number. */
#define DRAW_OF(...)                                                                                                   \
	({                                                                                                             \
		const uint64_t of_[] = {__VA_ARGS__};                                                                  \
		draw(16) ? of_[draw(sizeof(of_) / sizeof(of_[0]))] : draw(UINT64_MAX);                                 \
	})

/* ---- The world ---- */

static unsigned char region[REGION_MAX];
static struct data_type types[TYPES];
static struct data_member members[TYPES][MEMBERS];
static struct data_word words[TYPES][MEMBERS];
static struct data_variant variants[TYPES][MEMBERS];

static void draw_bytes(unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)draw(draw(2) ? 256 : 3);
}

/* Returns an address in the region, near its end, on the stack, an extreme one, or any number. */
static uint64_t draw_address(void)
{
	switch (draw(4)) {
	case 0:
		return REGION_AT + draw(REGION_MAX);
	case 1:
		return REGION_AT + REGION_MAX - draw(20);
	case 2:
		return DRAW_OF(0, 1, UINT64_MAX, UINT64_MAX - 7, UINT32_MAX, STACK_AT, (uint64_t)1 << 63);
	default:
		return STACK_AT + draw(STACK_SIZE + 8);
	}
}

/* Fills the region with random values, which include pointers. */
static void draw_memory(void)
{
	draw_bytes(region, sizeof(region));
	for (unsigned i = 0; i < 40; i++) {
		const uint64_t address = draw_address();

		memcpy(region + draw(sizeof(region) - 8), &address, sizeof(address));
	}
}

static const struct data_type *draw_type(void)
{
	return draw(24) ? &types[draw(TYPES)] : NULL;
}

static void draw_types(void)
{
	static const char *const names[] = {"",  "x", "char", "wchar_t", "a::very<long, name>::that::says::nothing",
					    NULL};

	for (unsigned i = 0; i < TYPES; i++) {
		struct data_type *type = &types[i];

		*type = (struct data_type){
			.kind = (enum data_kind)(draw(40) ? draw(DATA_TEXT_INLINE + 1) : draw(200)),
			.size = DRAW_OF(0, 1, 2, 3, 4, 8, 10, 12, 16, 17, 24, 64, 1500, 65536, UINT32_MAX, UINT64_MAX),
			.align = (uint32_t)DRAW_OF(0, 1, 2, 3, 4, 8, 16, 64, 1u << 31),
			.name = names[draw(ARRAY_SIZE(names))],
			.is_signed = draw(2),
			.is_flags = draw(2),
			.is_extended = !draw(3),
			.is_cut = !draw(8),
			.has_variants = !draw(6),
			.is_incomplete = !draw(20),
			.discriminant = draw(2) ? &members[draw(TYPES)][0] : NULL,
			.variants = variants[i],
			.variant_count = draw(MEMBERS + 1),
			.by_address = !draw(6),
			.target = draw_type(),
			.count = DRAW_OF(0, 1, 2, 7, 8, 9, 100, UINT32_MAX, UINT64_MAX),
			.members = members[i],
			.member_count = draw(MEMBERS + 1),
			.words = words[i],
			.word_count = draw(MEMBERS + 1),
			.text_at = (uint32_t)DRAW_OF(0, 4, 8, 16, UINT32_MAX),
			.length_at = (uint32_t)DRAW_OF(0, 4, 8, 16, UINT32_MAX),
		};
		for (unsigned j = 0; j < MEMBERS; j++) {
			const char *name = names[draw(ARRAY_SIZE(names))];

			members[i][j] = (struct data_member){
				.name = name,
				.type = draw_type(),
				.offset = (uint32_t)DRAW_OF(0, 1, 4, 8, 16, 1020, UINT32_MAX),
				.bit_offset = (uint16_t)DRAW_OF(0, 1, 7, 31, 63, 65535),
				.bit_size = draw(3) ? 0 : (uint16_t)DRAW_OF(1, 7, 31, 63, 64, 65, 65535),
				.is_base = !draw(4),
				.is_virtual = !draw(4),
				.table_at = (uint32_t)DRAW_OF(0, 4, 12, 24, 1024, 1025, UINT32_MAX),
			};
			variants[i][j] = (struct data_variant){.name = name,
							       .type = draw_type(),
							       .offset = (uint32_t)DRAW_OF(0, 4, UINT32_MAX),
							       .is_other = !draw(3),
							       .value = DRAW_OF(0, 1, 2, UINT64_MAX)};
			words[i][j] = (struct data_word){.name = name, .value = DRAW_OF(0, 1, 2, 3, UINT64_MAX)};
		}
	}
}

static void draw_task(struct fake_task *task, const struct arch *arch)
{
	fake_begin(task, arch);
	fake_memory(task, REGION_AT, region, sizeof(region) - (size_t)draw(16));
	draw_bytes(task->stack, sizeof(task->stack));
	for (unsigned i = 0; i < STACK_SIZE / 16; i++) {
		const uint64_t address = draw_address();

		memcpy(task->stack + (size_t)i * 16, &address, sizeof(address));
	}
	for (unsigned i = 0; i < 36; i++)
		task->regs.words[i] =
			arch->pointer_size == 8 ? draw_address() : (uint32_t)draw_address() | draw_address() << 32;
	if (draw(8))
		arch->registers.set_sp(&task->regs, STACK_AT + (draw(4) ? STACK_SIZE / 2 : STACK_SIZE - draw(64)));
	draw_bytes(task->floats, sizeof(task->floats));
	task->floats_size = draw(3) ? sizeof(task->floats) : (size_t)draw(sizeof(task->floats));
	task->source.limit = (size_t)DRAW_OF(0, 1, 16, 64, 100000, SIZE_MAX);
	task->has_error = draw(2);
	task->error = (int)draw(200);
}

/* ---- Rules for all texts ---- */

static void check_list(const struct fake_task *task, size_t reads)
{
	const size_t limit = task->source.limit < ARGS_LIMIT_MAX ? task->source.limit : ARGS_LIMIT_MAX;

	for (size_t i = 0; i < task->list->count; i++) {
		const char *value = task->list->items[i].value;

		assert_true(*value);
		assert_true(strlen(value) < 1024 + 4 * limit + OUT_RESERVE);
		for (const char *c = value; *c; c++)
			assert_true(!iscntrl((unsigned char)*c));
	}
	assert_true(task->reads <= reads);
}

static void call(struct fake_task *task, const struct args_plan *plan, size_t entry_reads, size_t return_reads)
{
	task->reads = 0;
	task->list = args_at_entry(plan, &task->source, &task->kept);
	/* For each argument a limited number of virtual bases is looked up and read. */
	check_list(task, entry_reads + 2 * BASES_READ * (task->list->count + 1));
	task->reads = 0;
	args_at_return(plan, &task->source, &task->kept, draw(2), task->list);
	check_list(task, return_reads + 2 * BASES_READ * (task->list->count + 1));
	fake_end(task);
}

static struct passed_as draw_passed(void)
{
	struct passed_as passed = {.by_address = !draw(4), .count = (unsigned)DRAW_OF(0, 1, 2, 2)};

	for (unsigned i = 0; i < PASSED_SCALARS; i++)
		passed.scalars[i] = (struct passed_scalar){.offset = (uint32_t)DRAW_OF(0, 4, 8, UINT32_MAX),
							   .size = (uint16_t)DRAW_OF(1, 3, 4, 8, 16, 0, 65535),
							   .is_float = draw(2)};
	return passed;
}

static void draw_param(struct signature_param *param, struct place_piece *pieces)
{
	*param = (struct signature_param){
		.name = draw(4) ? "p" : NULL,
		.type = draw_type(),
		.place = draw(2) ? PLACE_BY_ABI : (enum param_place)draw(9),
		.place_register = (unsigned)DRAW_OF(0, 7, 16, 31, 64, UINT32_MAX),
		.place_offset = (int64_t)DRAW_OF(0, 8, (uint64_t)-8, (uint64_t)1 << 63),
		.pieces = pieces,
		.piece_count = (size_t)draw(PIECES + 1),
		.passed = draw_passed(),
	};
	for (unsigned i = 0; i < PIECES; i++)
		pieces[i] = (struct place_piece){
			.place = (enum param_place)draw(9),
			.place_register = (unsigned)DRAW_OF(0, 7, 16, UINT32_MAX),
			.place_offset = (int64_t)DRAW_OF(0, 8, (uint64_t)-8, (uint64_t)1 << 63),
			.offset = (uint32_t)DRAW_OF(0, 4, 8, 1000, UINT32_MAX),
			.size = (uint32_t)DRAW_OF(0, 1, 4, 8, 16, 2000, UINT32_MAX),
		};
}

static void test_random_signatures_stay_within_limits(void **state)
{
	static struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		for (unsigned round = 0; round < ROUNDS; round++) {
			struct signature_param params[PARAMS];
			static struct place_piece pieces[PARAMS][PIECES];
			struct signature signature = {.params = params, .is_variadic = draw(2)};
			struct args_plan *plan;

			draw_types();
			draw_memory();
			draw_task(&task, arch);
			signature.param_count = (size_t)draw(PARAMS + 1);
			signature.result = draw_type();
			signature.abi_is_rust = !draw(3);
			signature.result_passed = draw_passed();
			for (size_t i = 0; i < PARAMS; i++)
				draw_param(&params[i], pieces[i]);
			plan = args_plan_of_signature(arch, &signature, draw(2));
			/* The limit: two reads of the stack, and for each argument four reads, of its parts and of the
			 * memory to which they point. */
			call(&task, plan, 2 + 4 * signature.param_count, 3);
			args_plan_free(plan);
		}
	}
}

static void test_random_rows_stay_within_limits(void **state)
{
	static const struct param_word some[] = {{.name = "A", .value = 1},
						 {.name = "B", .value = 2, .mask = 6},
						 {.name = "C"},
						 {.name = "D", .value = UINT64_MAX, .on = 3},
						 {0}};
	static struct fake_task task;

	FOR_EACH_ARCH(arch)
	{
		for (unsigned round = 0; round < ROUNDS; round++) {
			struct function row = {.sets_errno = draw(2),
					       .result = (unsigned char)draw(9),
					       .success = (unsigned char)draw(6)};
			struct param_case cases[3] = {{0}};
			const size_t count = (size_t)draw(FUNCTION_PARAMS + 1);
			struct args_plan *plan;

			draw_memory();
			draw_task(&task, arch);
			for (size_t i = 0; i < 2; i++)
				cases[i] = (struct param_case){.value = draw(4),
							       .mask = draw(2) * 3,
							       .type = (unsigned char)draw(PARAM_NONE + 1),
							       .words = draw(2) ? some : NULL};
			for (size_t i = 0; i < count; i++)
				row.params[i] =
					(struct param){.name = "p",
						       .type = (unsigned char)(1 + draw(draw(8) ? PARAM_NONE : 255)),
						       .with = (unsigned char)draw(draw(8) ? 12 : 256),
						       .times = (unsigned char)draw(draw(8) ? 4 : 256),
						       .is_result = !draw(3),
						       .words = draw(2) ? some : NULL,
						       .needs = DRAW_OF(0, 0, 1, 2, 9, UINT64_MAX),
						       .cases = draw(4) ? NULL : cases};
			row.returns = (struct param){.name = "return",
						     .type = (unsigned char)draw(PARAM_NONE + 2),
						     .with = (unsigned char)draw(256),
						     .needs = DRAW_OF(0, 1)};
			plan = args_plan_of_row(arch, &row, draw(2));
			/* A list of strings has one read for each of them. */
			if (plan)
				call(&task, plan, 2 + (VALUE_ITEMS + 2) * count, (VALUE_ITEMS + 2) * (count + 1));
			args_plan_free(plan);
		}
	}
}

/* Tests types without an end: types that contain themselves, and an array of 2^64 - 1 empty structs. Reading and
 * showing them must stop at the limits. */
static void test_types_that_contain_themselves_stay_within_limits(void **state)
{
	static struct data_member many[64], bases[64];
	static struct data_type self = {.kind = DATA_STRUCT, .size = 8, .members = many, .member_count = 64},
				none = {.kind = DATA_STRUCT, .size = 8, .members = bases, .member_count = 64},
				empty = {.kind = DATA_STRUCT, .size = 1},
				list = {.kind = DATA_ARRAY, .size = 8, .target = &empty, .count = UINT64_MAX},
				nest = {.kind = DATA_ARRAY, .size = 8, .target = &nest, .count = 8},
				pointer = {.kind = DATA_POINTER, .size = 8, .target = &pointer},
				reference = {.kind = DATA_REFERENCE, .size = 8, .target = &reference},
				complex = {.kind = DATA_COMPLEX, .size = 8, .target = &complex};
	static const struct data_type *const endless[] = {&self, &none, &list, &nest, &pointer, &reference, &complex};
	static struct fake_task task;

	for (size_t i = 0; i < 64; i++) {
		many[i] = (struct data_member){.name = "self", .type = &self};
		bases[i] = (struct data_member){.name = "", .type = &none, .is_base = true};
	}
	FOR_EACH_ARCH(arch)
	{
		for (size_t i = 0; i < ARRAY_SIZE(endless); i++) {
			const struct signature_param param = {.name = "p", .type = endless[i]};
			const struct signature signature = {.params = &param, .param_count = 1, .result = endless[i]};
			struct args_plan *plan = args_plan_of_signature(arch, &signature, false);

			draw_memory();
			draw_task(&task, arch);
			call(&task, plan, 6, 3);
			args_plan_free(plan);
			assert_true(strlen(fake_value(&task, endless[i], region, 8, REGION_AT)) <
				    1024 + 4 * ARGS_LIMIT_MAX + OUT_RESERVE);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_signatures_stay_within_limits),
		cmocka_unit_test(test_random_rows_stay_within_limits),
		cmocka_unit_test(test_types_that_contain_themselves_stay_within_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
