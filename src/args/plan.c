#include "config.h"
#include "args/plan.h"
#include "args/flatten.h"
#include "args/row.h"
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

/* How much of the stack has to be read for all of them. */
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
		plan->arch->abi->result(function, &plan->result.place);
}

/* ---- Rows ---- */

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
	plan->result.name = "return";
	plan->result.size = plan->has_result ? result.size : 0;
	place_all(plan, &(struct abi_function){.values = values,
					       .count = count,
					       .result = plan->has_result ? &result : NULL,
					       .is_soft_float = is_soft_float});
	return plan;
}

/* ---- Signatures ---- */

struct args_plan *args_plan_of_signature(const struct arch *arch, const struct signature *signature, bool is_soft_float)
{
	struct abi_value *values, result;

	if (!arch->abi || !signature)
		return NULL;
	struct args_plan *plan =
		new_plan(arch, signature->param_count < PLAN_PARAMS ? signature->param_count : PLAN_PARAMS);

	values = xcalloc(plan->count + 1, sizeof(*values));
	for (size_t i = 0; i < plan->count; i++) {
		const struct signature_param *param = &signature->params[i];

		values[i] = flatten(param->type, arch->pointer_size);
		plan->params[i] = (struct plan_param){.name = param->name ? param->name : "",
						      .type = param->type,
						      .signature = param,
						      .size = values[i].size};
	}
	plan->has_result = signature->result && signature->result->kind != DATA_VOID;
	if (plan->has_result)
		result = flatten(signature->result, arch->pointer_size);
	plan->result = (struct plan_param){
		.name = "return", .type = signature->result, .size = plan->has_result ? result.size : 0};
	place_all(plan, &(struct abi_function){.values = values,
					       .count = plan->count,
					       .result = plan->has_result ? &result : NULL,
					       .is_variadic = signature->is_variadic,
					       .is_soft_float = is_soft_float});
	free(values);
	return plan;
}
