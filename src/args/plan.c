#include "config.h"
#include "args/plan.h"
#include "args/flatten.h"
#include "args/module_params.h"
#include "base/util.h"

#include <stdlib.h>

static struct args_plan *new_plan(const struct arch *arch, size_t count)
{
	struct args_plan *plan = xcalloc(1, sizeof(*plan));

	plan->arch = arch;
	plan->count = count;
	plan->params = xcalloc(count + 1, sizeof(*plan->params));
	return plan;
}

void args_plan_free(struct args_plan *plan)
{
	if (!plan)
		return;
	free(plan->params);
	free(plan);
}

/* Extends the range of the stack that all arguments occupy (stack_from to stack_to) by one place. */
static void note_stack(struct args_plan *plan, const struct abi_place *place)
{
	for (unsigned i = 0; place->is_known && i < place->piece_count && i < ABI_PIECES; i++) {
		const struct abi_piece *piece = &place->pieces[i];
		const uint64_t end = (uint64_t)piece->at + piece->size;

		if (piece->kind != PIECE_STACK || end > UINT32_MAX)
			continue;
		if (!plan->stack_to || piece->at < plan->stack_from)
			plan->stack_from = piece->at;
		if (end > plan->stack_to)
			plan->stack_to = (uint32_t)end;
	}
}

/* Finds the place of the result. If it is in memory, its address is passed like an argument, perhaps on the stack. */
static void place_result(struct args_plan *plan, const struct abi_function *function)
{
	plan->arch->abi->result(function, &plan->result.place);
	if (plan->result.place.is_address)
		note_stack(plan, &plan->result.place);
}

static void place_all(struct args_plan *plan, const struct abi_function *function)
{
	struct abi_place *places = xcalloc(plan->count + 1, sizeof(*places));

	plan->arch->abi->arguments(function, places);
	for (size_t i = 0; i < plan->count; i++) {
		plan->params[i].place = places[i];
		note_stack(plan, &places[i]);
	}
	free(places);
	if (plan->has_result)
		place_result(plan, function);
}

/* Returns true if the result is a number. A struct with a number as its only member is not a number. */
static bool is_number(const struct args_plan *plan)
{
	if (plan->row)
		return true;
	switch (plan->result.type->kind) {
	case DATA_INT:
	case DATA_BOOL:
	case DATA_CHAR:
	case DATA_ENUM:
	case DATA_POINTER:
	case DATA_REFERENCE:
	case DATA_TEXT_COUNTED:
		return true;
	default:
		return false;
	}
}

static void note_number(struct args_plan *plan)
{
	const struct abi_place *const place = &plan->result.place;
	const struct abi_piece *const piece = &place->pieces[0];

	if (plan->has_result && place->is_known && !place->is_address && place->piece_count == 1 &&
	    piece->kind == PIECE_INTEGER && !piece->index && is_number(plan))
		plan->number_size = piece->size;
}

uint64_t args_plan_number(const struct args_plan *plan, uint64_t result_register)
{
	if (plan->doubt == DOUBT_UNKNOWN)
		return result_register;
	if (plan->number_size < 8)
		return result_register & ((UINT64_C(1) << 8 * plan->number_size) - 1);
	return result_register;
}

enum args_doubt args_plan_doubt(const struct args_plan *plan)
{
	return plan ? plan->doubt : DOUBT_UNKNOWN;
}

/* ---- Table rows ---- */

struct args_plan *args_plan_of_row(const struct arch *arch, const struct function *row, bool is_soft_float)
{
	struct abi_value values[FUNCTION_PARAMS], result;
	size_t count = 0;

	while (count < FUNCTION_PARAMS && row->params[count].type != PARAM_END)
		count++;
	if (!arch->abi || (!count && row->returns.type == PARAM_END && !row->sets_errno))
		return NULL;
	struct args_plan *plan = new_plan(arch, count);

	plan->row = row;
	for (size_t i = 0; i < count; i++) {
		values[i] = row_abi_value(arch, &row->params[i]);
		plan->params[i].name = row->params[i].name ? row->params[i].name : "";
		plan->params[i].size = values[i].size;
	}
	plan->has_result = row->returns.type != PARAM_END && row->returns.type != PARAM_NONE;
	if (plan->has_result)
		result = row_abi_value(arch, &row->returns);
	plan->result.name = ARG_RESULT;
	plan->result.size = plan->has_result ? result.size : 0;
	place_all(plan, &(struct abi_function){.values = values,
					       .count = count,
					       .result = plan->has_result ? &result : NULL,
					       .is_soft_float = is_soft_float,
					       .is_gcc = true});
	note_number(plan);
	return plan;
}

/* ---- Signatures ---- */

/* The values for which the ABI determines places: parameters, or the scalars of Rust's parameters. */
struct asked {
	struct abi_value values[PLAN_PARAMS * PASSED_SCALARS];
	struct abi_place places[PLAN_PARAMS * PASSED_SCALARS];
	size_t params[PLAN_PARAMS * PASSED_SCALARS], count;
	uint32_t offsets[PLAN_PARAMS * PASSED_SCALARS]; /* offset of each value in its parameter, in bytes */
};

static void plan_ask(struct asked *asked, size_t param, const struct abi_value *value, uint32_t offset)
{
	asked->values[asked->count] = *value;
	asked->params[asked->count] = param;
	asked->offsets[asked->count++] = offset;
}

/* Rounds a size up to the size of a scalar: a power of two, at most 16. */
static uint16_t scalar_size(uint16_t size)
{
	uint16_t whole = 1;

	while (whole < size && whole < 16)
		whole *= 2;
	return whole;
}

static struct abi_value scalar_value(unsigned size, bool is_float)
{
	return (struct abi_value){
		.size = size,
		.align = size,
		.field_count = 1,
		.fields = {{.size = (uint16_t)size, .kind = is_float ? ABI_FLOAT : ABI_INTEGER}},
	};
}

/* Returns a struct that every ABI passes in memory. */
static struct abi_value value_in_memory(unsigned word)
{
	struct abi_value value = {
		.size = ABI_FIELDS * word, .align = word, .is_struct = true, .field_count = ABI_FIELDS};

	for (unsigned i = 0; i < ABI_FIELDS; i++)
		value.fields[i] = (struct abi_field){.offset = i * word, .size = (uint16_t)word, .kind = ABI_INTEGER};
	return value;
}

static void ask_rust(struct asked *asked, size_t param, const struct passed_as *passed, unsigned word)
{
	const struct abi_value pointer = scalar_value(word, false);

	if (passed->by_address)
		plan_ask(asked, param, &pointer, 0);
	for (unsigned i = 0; !passed->by_address && i < passed->count && i < PASSED_SCALARS; i++) {
		const struct passed_scalar *scalar = &passed->scalars[i];
		const struct abi_value value = scalar_value(scalar_size(scalar->size), scalar->is_float);

		plan_ask(asked, param, &value, scalar->offset);
	}
}

/* Adds the pieces of a part to the place of the whole value. offset: offset of the part in the value. size: bytes of
 * the value. */
static void add_pieces(struct abi_place *whole, const struct abi_place *part, uint32_t offset, uint64_t size)
{
	whole->is_known &= part->is_known && !part->is_address;
	for (unsigned i = 0; i < part->piece_count && i < ABI_PIECES; i++) {
		struct abi_piece piece = part->pieces[i];

		if (whole->piece_count == ABI_PIECES) {
			whole->is_known = false;
			return;
		}
		piece.offset += offset;
		if (piece.offset >= size)
			continue;
		if (piece.size > size - piece.offset)
			piece.size = (uint32_t)(size - piece.offset);
		whole->pieces[whole->piece_count++] = piece;
	}
}

/* Finds the place of a Rust function's result. Rust returns each scalar of a pair in a register of its own. These are
 * the registers in which C returns an integer of two words, or the two parts of a complex number. */
static void place_rust_result(struct args_plan *plan, const struct passed_as *passed, struct abi_function *function)
{
	const unsigned word = plan->arch->pointer_size;
	const struct abi_value integers = scalar_value(2 * word, false);
	const struct abi_value floats = {
		.size = 16,
		.align = 8,
		.field_count = 2,
		.fields = {{.size = 8, .kind = ABI_FLOAT}, {.offset = 8, .size = 8, .kind = ABI_FLOAT}},
	};
	unsigned used[2] = {0};

	plan->result.place.is_known = true;
	for (unsigned i = 0; i < passed->count && i < PASSED_SCALARS; i++) {
		const struct passed_scalar *scalar = &passed->scalars[i];
		const unsigned most = scalar->is_float ? 8 : word, size = scalar->size;
		struct abi_place place = {0}, part = {0};

		function->result = scalar->is_float ? &floats : &integers;
		plan->arch->abi->result(function, &place);
		for (unsigned done = 0; done < size; done += most, used[scalar->is_float]++) {
			if (!place.is_known || place.is_address || used[scalar->is_float] >= place.piece_count) {
				plan->result.place.is_known = false;
				return;
			}
			part = (struct abi_place){
				.is_known = true, .piece_count = 1, .pieces = {place.pieces[used[scalar->is_float]]}};
			part.pieces[0].offset = 0;
			if (part.pieces[0].size > size - done)
				part.pieces[0].size = size - done;
			add_pieces(&plan->result.place, &part, scalar->offset + done, plan->result.size);
		}
	}
}

static void ask_all(struct args_plan *plan, const struct signature *signature, struct asked *asked)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct signature_param *param = &signature->params[i];
		const struct abi_value value = flatten(param->type, plan->arch->pointer_size);

		plan->params[i] = (struct plan_param){
			.name = param->name ? param->name : "",
			.type = param->type,
			.signature = param,
			.size = param->type ? param->type->size : 0,
			.place = {.is_known = true},
		};
		if (signature->abi_is_rust)
			ask_rust(asked, i, &param->passed, plan->arch->pointer_size);
		else
			plan_ask(asked, i, &value, 0);
	}
}

/* Returns true if the ABI assigns this piece to the register with this DWARF number. */
static bool plan_is_in(const struct arch *arch, const struct abi_piece *piece, unsigned dwarf_register)
{
	const int at = arch->abi->float_at(dwarf_register);

	if (piece->kind == PIECE_FLOAT) /* the piece may be a part of a wider register */
		return at >= 0 && piece->at >= (unsigned)at && piece->at < (unsigned)at + 16;
	return piece->kind == PIECE_INTEGER && arch->abi->argument_dwarf(piece->index) == dwarf_register;
}

/* Returns one bit for each piece that callers may leave out, because debug information does not list the piece's
 * register among the registers that the function uses. Returns 0 if a piece is on the stack, or if debug information
 * lists no register at all. */
static unsigned left_out(const struct arch *arch, const struct signature_param *param, const struct abi_place *place)
{
	unsigned left = 0;

	for (unsigned i = 0; i < place->piece_count && i < ABI_PIECES; i++) {
		unsigned k = 0;

		if (place->pieces[i].kind == PIECE_STACK)
			return 0;
		while (k < param->register_count && !plan_is_in(arch, &place->pieces[i], param->registers[k]))
			k++;
		if (k == param->register_count)
			left |= 1u << i;
	}
	return param->place == PLACE_BY_ABI && param->register_count ? left : 0;
}

static bool is_in_registers(const struct signature_param *param)
{
	for (size_t i = 0; i < param->piece_count; i++)
		if (param->pieces[i].place != PLACE_REGISTER)
			return false;
	return param->said == PLACE_PIECES && param->piece_count;
}

/* Sets is_moved for the parameters of a function that LLVM may have given its own calling convention. If no other file
 * calls the function, LLVM may pass the fields of a struct in registers, although the ABI passes the struct on the
 * stack. Then each other parameter may also be in another place. Debug information does not show whether LLVM did this:
 * it looks the same if the struct is passed on the stack and the function's first instructions load it into
 * registers. */
static void find_moved(struct args_plan *plan)
{
	bool is_any = false;

	for (size_t i = 0; i < plan->count; i++) {
		const struct plan_param *const param = &plan->params[i];

		is_any |= param->signature->place == PLACE_BY_ABI && is_in_registers(param->signature) &&
			  param->place.piece_count && param->place.pieces[0].kind == PIECE_STACK;
	}
	for (size_t i = 0; i < plan->count && is_any; i++) {
		struct plan_param *const param = &plan->params[i];

		param->is_moved = !(param->signature->said == PLACE_REGISTER && param->place.piece_count == 1 &&
				    plan_is_in(plan->arch, &param->place.pieces[0], param->signature->place_register));
	}
}

static void take_places(struct args_plan *plan, bool is_rust, const struct asked *asked)
{
	for (size_t i = 0; i < asked->count; i++) {
		struct plan_param *param = &plan->params[asked->params[i]];

		if (param->signature->place == PLACE_BY_ABI)
			note_stack(plan, &asked->places[i]);
		if (!is_rust) {
			param->place = asked->places[i];
			continue;
		}
		param->place.is_address = param->signature->passed.by_address;
		add_pieces(&param->place, &asked->places[i], asked->offsets[i],
			   param->place.is_address ? plan->arch->pointer_size : param->size);
	}
	for (size_t i = 0; i < plan->count; i++)
		plan->params[i].left_out = left_out(plan->arch, plan->params[i].signature, &plan->params[i].place);
	find_moved(plan);
}

struct args_plan *args_plan_of_signature(const struct arch *arch, const struct signature *signature, bool is_soft_float)
{
	struct asked *asked;
	struct abi_value result;

	if (!arch->abi || !signature)
		return NULL;
	struct args_plan *plan =
		new_plan(arch, signature->param_count < PLAN_PARAMS ? signature->param_count : PLAN_PARAMS);

	asked = xcalloc(1, sizeof(*asked));
	ask_all(plan, signature, asked);
	plan->has_result = signature->result && signature->result->kind != DATA_VOID;
	if (plan->has_result)
		result = flatten(signature->result, arch->pointer_size);
	if (signature->abi_is_rust && signature->result_passed.by_address)
		result = value_in_memory(arch->pointer_size);
	plan->result = (struct plan_param){
		.name = ARG_RESULT, .type = signature->result, .size = plan->has_result ? signature->result->size : 0};
	const bool is_rust_result = signature->abi_is_rust && !signature->result_passed.by_address;
	struct abi_function function = {.values = asked->values,
					.count = asked->count,
					.result = plan->has_result && !is_rust_result ? &result : NULL,
					.is_variadic = signature->is_variadic,
					.is_soft_float = is_soft_float,
					.is_gcc = signature->is_gcc};

	arch->abi->arguments(&function, asked->places);
	take_places(plan, signature->abi_is_rust, asked);
	if (plan->has_result && is_rust_result)
		place_rust_result(plan, &signature->result_passed, &function);
	else if (plan->has_result)
		place_result(plan, &function);
	plan->is_constructor = signature->is_constructor;
	note_number(plan);
	if (signature->result_is_unknown)
		plan->doubt = DOUBT_UNKNOWN;
	else if (signature->result_may_be_lost && plan->number_size)
		plan->doubt = DOUBT_LOST;
	if (signature->result_may_be_lost && !plan->result.place.is_address)
		plan->has_result = false;
	free(asked);
	return plan;
}
