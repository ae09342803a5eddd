#include "config.h"
#include "modules/check.h"

#include <ctype.h>
#include <string.h>

#define FUNCTIONS_MAX 100000

/* Checks the table of a module from a shared object, field by field, because an error in the table would cause wrong
 * numbers in a trace, or a crash. */

struct module_check_data {
	const struct module *module;
	struct buf *said;
	size_t index; /* index of the function that is being checked */
};

static bool check_fail(const struct module_check_data *check, const char *field, const char *why)
{
	const struct function *const f = &check->module->functions[check->index];

	buf_printf(check->said, "functions[%zu]%s%s%s: .%s %s", check->index, f->symbol ? " (" : "",
		   f->symbol ? f->symbol : "", f->symbol ? ")" : "", field, why);
	return false;
}

bool module_is_name(const char *text)
{
	const size_t length = strlen(text);

	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("_.-", text[i]))
			return false;
	return length && length <= MODULE_NAME_MAX;
}

bool module_is_of_result(const struct value *value)
{
	return value->kind == VALUE_RESULT || value->kind == VALUE_RESULT_SCALED ||
	       value->kind == VALUE_RESULT_STRING_SIZE || value->kind == VALUE_RESULT_WIDE_SIZE;
}

static bool check_has_argument(const struct value *value)
{
	return value->kind != VALUE_NONE && value->kind != VALUE_CONST && !module_is_of_result(value);
}

static bool check_value(const struct module_check_data *check, const char *field, const struct value *value)
{
	if (value->kind > VALUE_KEPT)
		return check_fail(check, field, "has a kind that is not in enum value_kind");
	if (value->type > TYPE_UINT16 || (value->kind == VALUE_ARG_TIMES && value->number > TYPE_UINT16))
		return check_fail(check, field, "has a type that is not in enum value_type");
	if ((check_has_argument(value) && value->a >= MODULE_ARGS) ||
	    (value->kind == VALUE_ARG_TIMES && value->b >= MODULE_ARGS))
		return check_fail(check, field,
				  "names an argument after the last one that functrace reads (MODULE_ARGS)");
	if ((value->kind == VALUE_LIVE_SIZE || value->kind == VALUE_KEPT) && value->b >= check->module->resource_count)
		return check_fail(check, field, "names a resource that the module does not have");
	return true;
}

static bool check_condition(const struct module_check_data *check, const char *field, const struct condition *condition)
{
	if (condition->test > TEST_NOT_LIVE)
		return check_fail(check, field, "has a test that is not in enum test");
	if (condition->resource >= check->module->resource_count)
		return check_fail(check, field, "names a resource that the module does not have");
	return check_value(check, field, &condition->value) && check_value(check, field, &condition->other);
}

static bool check_module_values(const struct module_check_data *check, const struct function *f)
{
	for (size_t i = 0; i < FUNCTION_CONDITIONS; i++)
		if (!check_condition(check, "conditions", &f->conditions[i]))
			return false;
	return check_condition(check, "replaces", &f->replaces) && check_condition(check, "stays", &f->stays) &&
	       check_value(check, "id", &f->id) && check_value(check, "size", &f->size) &&
	       check_value(check, "released", &f->released) && check_value(check, "last", &f->last) &&
	       check_value(check, "extent", &f->extent) && check_value(check, "keeps", &f->keeps);
}

/* ---- Parameters ---- */

static bool needs_another(unsigned type)
{
	return type == PARAM_SOCKADDR || type == PARAM_BYTES || type == PARAM_STRING_N || type == PARAM_WIDE_N;
}

static bool points_to_memory(unsigned type)
{
	return needs_another(type) || type == PARAM_STRING || type == PARAM_WIDE || type == PARAM_INTS ||
	       type == PARAM_INDIRECT || type == PARAM_STRINGS;
}

static bool check_words(const struct module_check_data *check, const struct param_word *words)
{
	for (size_t i = 0; words && words[i].name; i++)
		if (i == MODULE_WORDS_MAX || !*words[i].name)
			return check_fail(check, "params",
					  "has words that do not end with a name that is NULL, or a word with an "
					  "empty name");
	return true;
}

/* Checks the type of a result, or of a case. Such a type cannot refer to other parameters. */
static bool check_alone(const struct module_check_data *check, const char *field, unsigned type,
			const struct param_word *words)
{
	if (type > PARAM_NONE)
		return check_fail(check, field, "has a type that is not in enum param_type");
	if (needs_another(type) || type == PARAM_INTS)
		return check_fail(check, field, "has a type that only a parameter can have");
	if (type == PARAM_WORD && !words)
		return check_fail(check, field, "is a PARAM_WORD without words");
	return check_words(check, words);
}

static bool check_cases(const struct module_check_data *check, const struct param_case *cases)
{
	for (size_t i = 0; cases && cases[i].type; i++) {
		if (i == MODULE_WORDS_MAX)
			return check_fail(check, "params", "has cases that do not end with PARAM_END");
		if (!check_alone(check, "params", cases[i].type, cases[i].words))
			return false;
	}
	return true;
}

static bool check_param(const struct module_check_data *check, const struct param *param, unsigned count)
{
	const bool uses_with =
		needs_another(param->type) || param->cases || (param->needs && param->type != PARAM_INTS);

	if (param->type > PARAM_NONE)
		return check_fail(check, "params", "has a type that is not in enum param_type");
	if (!param->name || !*param->name)
		return check_fail(check, "params", "has a parameter without a name");
	if ((uses_with && param->with >= count) || param->times > count)
		return check_fail(check, "params",
				  "names another parameter (.with, .times) that the row does not have");
	if (param->is_result && !points_to_memory(param->type))
		return check_fail(check, "params", "is filled by the function (.is_result), but points to nothing");
	if (param->type == PARAM_INTS && (!param->needs || param->needs > MODULE_INTS_MAX))
		return check_fail(check, "params", "is of PARAM_INTS, and .needs does not say how many, 1 to 64");
	if (param->type == PARAM_WORD && !param->words)
		return check_fail(check, "params", "is a PARAM_WORD without words");
	return check_words(check, param->words) && check_cases(check, param->cases);
}

static bool check_params(const struct module_check_data *check, const struct function *f)
{
	unsigned count = 0;

	while (count < FUNCTION_PARAMS && f->params[count].type)
		count++;
	for (unsigned i = 0; i < count; i++)
		if (!check_param(check, &f->params[i], count))
			return false;
	if (f->returns.type && (f->returns.is_result || f->returns.cases || f->returns.needs))
		return check_fail(check, "returns", "has fields that only a parameter can have");
	return check_alone(check, "returns", f->returns.type, f->returns.words);
}

static bool check_module_function(const struct module_check_data *check)
{
	const struct module *const module = check->module;
	const struct function *const f = &module->functions[check->index];

	if (!f->symbol || !*f->symbol)
		return check_fail(check, "symbol", "is missing");
	if (f->role < ROLE_ALLOC || f->role > ROLE_CALL)
		return check_fail(check, "role", "is not in enum function_role");
	if (f->resource >= module->resource_count)
		return check_fail(check, "resource", "is no resource of the module");
	if ((f->role == ROLE_CALL) != !!(module->resources[f->resource].flags & KIND_CALL))
		return check_fail(
			check, "role",
			"does not fit its resource: it must be ROLE_CALL if the resource has KIND_CALL, and only then");
	if (f->role != ROLE_CALL && !f->id.kind)
		return check_fail(check, "id", "is missing");
	if (f->role == ROLE_REALLOC && !f->released.kind)
		return check_fail(check, "released", "is missing");
	if (f->success > OK_ALWAYS)
		return check_fail(check, "success", "is not in enum success");
	if (f->result > TYPE_UINT16)
		return check_fail(check, "result", "has a type that is not in enum value_type");
	if (f->symbol[0] == '*' && !f->is_pattern && !module->prefixes)
		return check_fail(check, "symbol", "has a prefix, and the module has no prefixes");
	return check_module_values(check, f) && check_params(check, f);
}

static bool check_resource(const struct module *module, size_t i, struct buf *said)
{
	const struct resource *const resource = &module->resources[i];

	if (!resource->type || !module_is_name(resource->type))
		buf_printf(said,
			   "resources[%zu]: .type is missing, or is not made of at most %d letters, digits, '_', '.' "
			   "and '-'",
			   i, MODULE_NAME_MAX);
	else if (!resource->noun || !*resource->noun)
		buf_printf(said, "resources[%zu] (%s): .noun is missing", i, resource->type);
	else if (resource->flags & ~(unsigned)(KIND_REFCOUNT | KIND_CALL))
		buf_printf(said, "resources[%zu] (%s): .flags has bits other than KIND_REFCOUNT and KIND_CALL", i,
			   resource->type);
	else
		return true;
	return false;
}

bool module_check(const struct module *module, struct buf *said)
{
	if (!module->name || !module_is_name(module->name)) {
		buf_printf(said, ".name is missing, or is not made of at most %d letters, digits, '_', '.' and '-'",
			   MODULE_NAME_MAX);
		return false;
	}
	if (!module->resources || !module->resource_count || module->resource_count > MODULE_RESOURCES_MAX) {
		buf_printf(said, ".resources: a module has 1 to %d of them", MODULE_RESOURCES_MAX);
		return false;
	}
	if (!module->functions || !module->function_count || module->function_count > FUNCTIONS_MAX) {
		buf_printf(said, ".functions: a module has 1 to %d of them", FUNCTIONS_MAX);
		return false;
	}
	for (size_t i = 0; i < module->resource_count; i++)
		if (!check_resource(module, i, said))
			return false;
	for (struct module_check_data check = {module, said, 0}; check.index < module->function_count; check.index++)
		if (!check_module_function(&check))
			return false;
	return true;
}
