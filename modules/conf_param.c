#include "config.h"
#include "modules/conf_parse.h"

#include <stdio.h>
#include <string.h>

/* From prototypes to what -a shows. */

#define INTS_MAX 64

/* The length of a socket's address is the parameter behind it, or what that points to. */
static bool has_length(const struct prototype *prototype, unsigned index)
{
	const unsigned next = index + 1;

	if (next >= prototype->param_count || next >= FUNCTION_PARAMS)
		return false;
	const struct ctype_use *const use = &prototype->params[next].use;
	const unsigned char type = use->type == C_POINTER ? use->pointee : use->type;

	return type == C_INT || type == C_UINT;
}

static bool is_shown(const struct ctype_use *use)
{
	return use->param != PARAM_END && use->type != C_VOID && use->type != C_STRUCT;
}

static void set_param(struct conf *conf, const struct prototype *prototype, unsigned index, struct param *param)
{
	const struct conf_param *const of = &prototype->params[index];
	char numbered[16];

	snprintf(numbered, sizeof(numbered), "arg%u", index + 1);
	param->name = of->length ? conf_keep(conf, of->name, of->length) : conf_keep(conf, numbered, strlen(numbered));
	param->type = of->use.param;
	param->words = of->use.words;
	param->is_result = of->is_result;
	if (of->use.param == PARAM_SOCKADDR && has_length(prototype, index)) {
		param->with = (unsigned char)(index + 1);
	} else if (of->use.param == PARAM_SOCKADDR) {
		param->type = PARAM_POINTER;
		param->is_result = false;
	} else if (of->count && (of->use.param == PARAM_INTS || of->use.to == PARAM_INT)) {
		param->type = PARAM_INTS;
		param->needs = of->count < INTS_MAX ? of->count : INTS_MAX;
	}
}

bool conf_set_params(struct conf *conf, struct scan *scan, const struct prototype *prototype, struct function *function)
{
	const struct ctype_use *const result = &prototype->result;

	if (prototype->has_result && is_shown(result))
		function->returns = (struct param){.name = "return", .type = result->param, .words = result->words};
	if (function->returns.type == PARAM_SOCKADDR)
		function->returns.type = PARAM_POINTER;
	if (function->sets_errno && prototype->has_result && result->type == C_VOID)
		return scan_error(scan, "a function that returns void does not say that errno is to be looked at");
	/* The address of such a result is an argument of its own. */
	if (prototype->has_result && result->type == C_STRUCT)
		return true;
	for (unsigned i = 0; i < prototype->param_count && i < FUNCTION_PARAMS; i++) {
		/* Where those behind it are, nobody knows. */
		if (!is_shown(&prototype->params[i].use))
			return true;
		set_param(conf, prototype, i, &function->params[i]);
	}
	return true;
}
