#include "config.h"
#include "modules/conf/conf_parse.h"
#include "modules/check.h"

#include <stdio.h>
#include <string.h>

/* Parses how parameters depend on other parameters, and converts prototypes to the parameters that -a shows. */

/* ---- Dependence on another parameter ---- */

static bool take_other(struct lexer *lexer, struct conf_name *name)
{
	if (!conf_is_c_name(&lexer->token))
		return lexer_error(lexer, "found %s where the name of another parameter is expected",
				   lexer_shown(lexer));
	*name = (struct conf_name){lexer->token.text, lexer->token.length};
	lexer_next(lexer);
	return true;
}

/* Parses the length in an array's brackets. If the length is the value of another parameter, sets *param so that -a
 * shows the whole array. Examples: `void bytes[count]`, `void items[count*size]`, and, for a string that may end
 * earlier, `char name[<=size]`. */
bool conf_take_length(struct lexer *lexer, struct conf_param *param)
{
	struct ctype_use *const use = &param->use;

	param->count = lexer->token.kind == TOKEN_NUMBER && use->type == C_INT ? lexer->token.number : 0;
	if (lexer_take_sign(lexer, "<=")) {
		if (use->type == C_POINTER || (use->param != PARAM_CHAR && use->param != PARAM_WCHAR))
			return lexer_error(lexer, "'<=' is for arrays of char and wchar_t");
		use->param = use->param == PARAM_CHAR ? PARAM_STRING_N : PARAM_WIDE_N;
		return take_other(lexer, &param->with);
	}
	if (use->type != C_VOID || lexer->token.kind != TOKEN_WORD)
		return true;
	use->param = PARAM_BYTES;
	return take_other(lexer, &param->with) && (!lexer_take_sign(lexer, "*") || take_other(lexer, &param->times));
}

bool conf_take_condition(struct lexer *lexer, struct conf_param *param)
{
	if (param->use.cases)
		return lexer_take_word(lexer, "by")
			       ? take_other(lexer, &param->with)
			       : lexer_error(lexer, "the parameter on which the type depends is missing: add by NAME");
	if (!lexer_take_word(lexer, "if"))
		return true;
	if (param->with.length || param->use.param == PARAM_SOCKADDR || param->use.param == PARAM_INTS)
		return lexer_error(lexer, "a parameter with a length cannot have a condition");
	if (!take_other(lexer, &param->with))
		return false;
	if (!lexer_take_word(lexer, "has"))
		return lexer_error(lexer, "found %s where 'has' and the bits are expected", lexer_shown(lexer));
	return lexer_take_number(lexer, &param->needs);
}

/* ---- Parameters for -a ---- */

/* Returns true if the next parameter is the length of a socket address, or a pointer to the length. */
static bool conf_param_has_length(const struct prototype *prototype, unsigned index)
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
	param->name = of->name.length ? conf_keep(conf, of->name.text, of->name.length)
				      : conf_keep(conf, numbered, strlen(numbered));
	param->type = of->use.param;
	param->words = of->use.words;
	param->cases = of->use.cases;
	param->is_result = of->is_result;
	param->needs = of->needs;
	if (of->use.param == PARAM_SOCKADDR && conf_param_has_length(prototype, index)) {
		param->with = (unsigned char)(index + 1);
	} else if (of->use.param == PARAM_SOCKADDR) {
		param->type = PARAM_POINTER;
		param->is_result = false;
	} else if (of->count && (of->use.param == PARAM_INTS || of->use.to == PARAM_INT)) {
		param->type = PARAM_INTS;
		param->needs = of->count < MODULE_INTS_MAX ? of->count : MODULE_INTS_MAX;
	}
}

/* Sets *index to the index of the parameter with this name, which must be one of the first `count`. Returns false after
 * an error. */
static bool set_other(struct lexer *lexer, const struct prototype *prototype, unsigned count,
		      const struct conf_name *name, unsigned char *index)
{
	for (unsigned i = 0; i < count; i++)
		if (conf_is_same_name(&prototype->params[i].name, name)) {
			*index = (unsigned char)i;
			return true;
		}
	return lexer_error(lexer, "'%.*s' is no parameter that -a shows", (int)name->length, name->text);
}

static bool set_others(struct lexer *lexer, const struct prototype *prototype, unsigned count,
		       struct function *function)
{
	for (unsigned i = 0; i < count; i++) {
		const struct conf_param *const of = &prototype->params[i];
		struct param *const param = &function->params[i];

		if (of->with.length && !set_other(lexer, prototype, count, &of->with, &param->with))
			return false;
		if (!of->times.length)
			continue;
		if (!set_other(lexer, prototype, count, &of->times, &param->times))
			return false;
		param->times++;
	}
	return true;
}

bool conf_set_params(struct conf *conf, struct lexer *lexer, const struct prototype *prototype,
		     struct function *function)
{
	const struct ctype_use *const result = &prototype->result;
	unsigned count = 0;

	if (prototype->has_result && is_shown(result))
		function->returns = (struct param){.name = "return", .type = result->param, .words = result->words};
	if (function->returns.type == PARAM_SOCKADDR)
		function->returns.type = PARAM_POINTER;
	if (function->sets_errno && prototype->has_result && result->type == C_VOID)
		return lexer_error(lexer, "a function that returns void does not show whether errno was set: leave out "
					  "errno");
	/* The address of a struct that is returned in memory may take a register or word for arguments, so the
	 * locations of arguments are unknown. */
	if (prototype->has_result && result->type == C_STRUCT)
		return true;
	/* If the type of a parameter cannot be shown, the locations of all later parameters are unknown. */
	for (; count < prototype->param_count && count < FUNCTION_PARAMS; count++) {
		if (!is_shown(&prototype->params[count].use))
			break;
		set_param(conf, prototype, count, &function->params[count]);
	}
	return set_others(lexer, prototype, count, function);
}
