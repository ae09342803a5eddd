#include "config.h"
#include "modules/conf/conf_parse.h"
#include "modules/check.h"
#include "modules/processors.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Parses values of a call (`return`, `size`, `count*each`, `*out`, `arg2`), and conditions on them. */

struct values {
	struct conf *conf;
	struct lexer *lexer;
	const struct prototype *prototype;
};

/* An argument of the call to which a value refers. */
struct argument {
	unsigned char index;
	bool is_numbered; /* true for argN, whose type is unknown */
	struct ctype_use use;
};

static bool is_integer(const struct ctype_use *use)
{
	return use->type >= C_INT8 && use->type <= C_POINTER;
}

/* Checks that the location of an argument is known: each argument before it must take one register or word. */
static bool check_places(struct lexer *lexer, const struct prototype *prototype, unsigned index)
{
	const unsigned char result = prototype->result.type;
	char on_stack[PROCESSORS_TEXT];

	if (result == C_STRUCT)
		return lexer_error(lexer,
				   "'%.*s' returns a struct by value, so the places of its parameters are unknown: "
				   "write argN (arg1, arg2... are the places of integer arguments)",
				   (int)prototype->length, prototype->name);
	for (unsigned i = 0; i <= index; i++) {
		const struct conf_param *const param = &prototype->params[i];

		if (is_integer(&param->use) || (param->use.type == C_WIDE && !index))
			continue;
		if (param->use.type == C_WIDE)
			return lexer_error(lexer,
					   "parameter %u has 8 bytes in any program: one argument in programs of 64 "
					   "bits, two in programs of 32 bits. For programs of 64 bits write it as long "
					   "or size_t",
					   i + 1);
		if (param->use.type == C_FLOAT)
			return lexer_error(lexer,
					   "parameter %u is a floating-point number, which is not among the integer "
					   "arguments (except in %s programs, where it is on the stack): leave it "
					   "out of the prototype, except for %s",
					   i + 1, module_processors_text(on_stack, true), on_stack);
		if (param->use.type == C_STRUCT)
			return lexer_error(
				lexer,
				"parameter %u is a struct by value, so its place and the places after it "
				"are unknown: write argN (arg1, arg2... are the places of integer arguments)",
				i + 1);
		return lexer_error(lexer,
				   "the type of parameter %u is not known here: write what it is (int, long, void *)",
				   i + 1);
	}
	return true;
}

static bool check_index(struct lexer *lexer, unsigned index)
{
	return index < MODULE_ARGS ||
	       lexer_error(lexer, "argument %u is out of reach: functrace reads only the first %d", index + 1,
			   MODULE_ARGS);
}

/* Returns N for `argN`; 1 for `this`, if the prototype is a pattern; 0 for other words. */
static unsigned argument_number(const struct values *v)
{
	const struct token *const token = &v->lexer->token;
	unsigned number = 0;

	if (v->prototype->is_pattern && lexer_is_word(v->lexer, "this"))
		return 1;
	if (token->length < 4 || token->length > 5 || memcmp(token->text, "arg", 3) || token->text[3] == '0')
		return 0;
	for (size_t i = 3; i < token->length; i++) {
		if (!isdigit((unsigned char)token->text[i]))
			return 0;
		number = number * 10 + (unsigned)(token->text[i] - '0');
	}
	return number;
}

static bool conf_value_unknown_name(const struct values *v)
{
	const struct prototype *const prototype = v->prototype;
	char known[400] = "";
	size_t used = 0;

	for (unsigned i = 0; i < prototype->param_count && used < sizeof(known) - 80; i++)
		if (prototype->params[i].name.length && prototype->params[i].name.length < 64)
			used += (size_t)snprintf(known + used, sizeof(known) - used, "%.*s, ",
						 (int)prototype->params[i].name.length, prototype->params[i].name.text);
	return lexer_error(v->lexer,
			   "%s is no value; known are: %sarg1 to arg%d, return, numbers, *NAME, NAME[INDEX], "
			   "NAME*NAME, NAME*NUMBER, strsize(NAME), pages(NAME)",
			   lexer_shown(v->lexer), known, MODULE_ARGS);
}

/* Parses the name of an argument, and checks that the argument can be read. */
static bool take_argument(const struct values *v, struct argument *argument)
{
	const struct prototype *const prototype = v->prototype;
	const struct token *const token = &v->lexer->token;

	for (unsigned i = 0; token->kind == TOKEN_WORD && i < prototype->param_count; i++) {
		const struct conf_param *const param = &prototype->params[i];

		if (param->is_label || param->name.length != token->length ||
		    memcmp(param->name.text, token->text, token->length))
			continue;
		if (!check_index(v->lexer, i) || !check_places(v->lexer, prototype, i))
			return false;
		*argument = (struct argument){(unsigned char)i, false, param->use};
		lexer_next(v->lexer);
		return true;
	}
	const unsigned number = token->kind == TOKEN_WORD ? argument_number(v) : 0;

	if (!number)
		return conf_value_unknown_name(v);
	if (!check_index(v->lexer, number - 1))
		return false;
	*argument = (struct argument){(unsigned char)(number - 1), true, {.type = C_UWORD, .pointee = C_UWORD}};
	lexer_next(v->lexer);
	return true;
}

static bool set_pointee(const struct values *v, const struct argument *argument, unsigned char index,
			const struct ctype_use *cast, struct value *value)
{
	const struct ctype_use pointee = {.type = cast ? cast->type : argument->use.pointee};

	if (argument->use.type != C_POINTER && !argument->is_numbered)
		return lexer_error(v->lexer, "argument %u is no pointer", argument->index + 1);
	if (!is_integer(&pointee))
		return lexer_error(v->lexer,
				   "argument %u points to a type that cannot be read: write the type to read, like "
				   "(size_t)*NAME or (int)NAME[1]",
				   argument->index + 1);
	*value = (struct value){VALUE_POINTEE, argument->index, index, conf_value_type(pointee.type), 0};
	return true;
}

static bool conf_value_take_index(const struct values *v, unsigned char *index)
{
	const struct token token = v->lexer->token;

	if (token.kind != TOKEN_NUMBER || token.number > UINT8_MAX)
		return lexer_error(v->lexer, "found %s where an index from 0 to %d is expected", lexer_shown(v->lexer),
				   UINT8_MAX);
	*index = (unsigned char)token.number;
	lexer_next(v->lexer);
	return lexer_take_sign(v->lexer, "]") || lexer_error(v->lexer, "a '[' without its ']'");
}

/* Parses the name of a resource. If !is_named, selects the only resource. */
static bool conf_value_take_resource(const struct values *v, bool is_named, unsigned char *resource)
{
	struct lexer *const lexer = v->lexer;
	int index = 0;

	if (is_named) {
		index = lexer->token.kind == TOKEN_WORD ? conf_resource(v->conf, lexer->token.text, lexer->token.length)
							: -1;
		if (index < 0)
			return lexer_error(lexer, "%s is no resource that is described above", lexer_shown(lexer));
		lexer_next(lexer);
	} else if (v->conf->resource_count > 1) {
		return lexer_error(lexer, "the file has several resources: add the type of one of them");
	}
	*resource = (unsigned char)index;
	return true;
}

/* Parses `strsize(name)` and the like, after the first word and bracket. */
static bool take_function(const struct values *v, unsigned char kind, unsigned char of_result, struct value *value)
{
	struct argument argument;

	*value = (struct value){kind, 0, 0, TYPE_WORD, 0};
	if (of_result && lexer_take_word(v->lexer, "return")) {
		value->kind = of_result;
	} else {
		if (!take_argument(v, &argument))
			return false;
		value->a = argument.index;
		value->type = conf_value_type(argument.use.type);
	}
	if ((kind == VALUE_LIVE_SIZE || kind == VALUE_KEPT) &&
	    !conf_value_take_resource(v, lexer_take_sign(v->lexer, ","), &value->b))
		return false;
	return lexer_take_sign(v->lexer, ")") || lexer_error(v->lexer, "a '(' without its ')'");
}

static const struct {
	const char *word;
	unsigned char kind, of_result; /* enum value_kind */
} functions[] = {{"strsize", VALUE_STRING_SIZE, VALUE_RESULT_STRING_SIZE},
		 {"wcssize", VALUE_WIDE_SIZE, VALUE_RESULT_WIDE_SIZE},
		 {"pages", VALUE_ARG_PAGES, VALUE_NONE},
		 {"namehash", VALUE_NAME, VALUE_NONE},
		 {"livesize", VALUE_LIVE_SIZE, VALUE_NONE},
		 {"kept", VALUE_KEPT, VALUE_NONE}};

/* Returns true if a bracket follows the current token, which is a word. Without a bracket, the word is the name of a
 * parameter. */
static bool is_call_ahead(const struct lexer *lexer)
{
	const char *at = lexer->at;

	while (at < lexer->end && (*at == ' ' || *at == '\t'))
		at++;
	return at < lexer->end && *at == '(';
}

static bool take_operand(const struct values *v, const struct ctype_use *cast, struct value *value)
{
	struct lexer *const lexer = v->lexer;
	struct argument argument;
	unsigned char index = 0;

	if (lexer->token.kind == TOKEN_NUMBER) {
		*value = (struct value){VALUE_CONST, 0, 0, TYPE_WORD, lexer->token.number};
		lexer_next(lexer);
		return true;
	}
	if (lexer_take_word(lexer, "return")) {
		*value = (struct value){VALUE_RESULT, 0, 0, TYPE_WORD, 0};
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (lexer_is_word(lexer, functions[i].word) && is_call_ahead(lexer)) {
			lexer_next(lexer);
			lexer_next(lexer);
			return take_function(v, functions[i].kind, functions[i].of_result, value);
		}
	if (lexer_take_sign(lexer, "*"))
		return take_argument(v, &argument) && set_pointee(v, &argument, 0, cast, value);
	if (!take_argument(v, &argument))
		return false;
	if (lexer_take_sign(lexer, "["))
		return conf_value_take_index(v, &index) && set_pointee(v, &argument, index, cast, value);
	*value =
		(struct value){VALUE_ARG, argument.index, 0, conf_value_type(cast ? cast->type : argument.use.type), 0};
	return true;
}

/* Parses `(return+MORE)*NUMBER`, after its first bracket and word. */
static bool take_result_scaled(const struct values *v, struct value *value)
{
	struct lexer *const lexer = v->lexer;
	uint64_t more = 0;

	if (lexer_take_sign(lexer, "+")) {
		more = lexer->token.kind == TOKEN_NUMBER ? lexer->token.number : UINT64_MAX;
		lexer_next(lexer);
	}
	if (more > UINT8_MAX || !lexer_take_sign(lexer, ")") || !lexer_take_sign(lexer, "*") ||
	    lexer->token.kind != TOKEN_NUMBER)
		return lexer_error(lexer, "the sum of the result and a number, times another number, is written "
					  "(return+1)*4");
	*value = (struct value){VALUE_RESULT_SCALED, 0, (unsigned char)more, TYPE_WORD, lexer->token.number};
	lexer_next(lexer);
	return true;
}

static bool take_product(const struct values *v, struct value *value)
{
	struct value a = *value, b;

	if (!take_operand(v, NULL, &b))
		return false;
	if (a.kind == VALUE_CONST && b.kind != VALUE_CONST) {
		const struct value number = a;

		a = b;
		b = number;
	}
	if (a.kind == VALUE_ARG && b.kind == VALUE_ARG)
		/* In VALUE_ARG_TIMES, `number` is the type of the second argument. */
		*value = (struct value){VALUE_ARG_TIMES, a.a, b.a, a.type, b.type};
	else if (a.kind == VALUE_ARG && b.kind == VALUE_CONST)
		*value = (struct value){VALUE_ARG_SCALED, a.a, 0, a.type, b.number};
	else if (a.kind == VALUE_RESULT && b.kind == VALUE_CONST)
		*value = (struct value){VALUE_RESULT_SCALED, 0, 0, TYPE_WORD, b.number};
	else if (a.kind == VALUE_CONST && b.kind == VALUE_CONST)
		*value = (struct value){VALUE_CONST, 0, 0, TYPE_WORD, mul_saturated(a.number, b.number)};
	else
		return lexer_error(v->lexer,
				   "the factors of a product are two arguments, an argument and a number, the result "
				   "and a number, or two numbers");
	if (lexer_is_sign(v->lexer, "*"))
		return lexer_error(v->lexer, "a product has two factors, no more");
	return true;
}

static bool take_value(const struct values *v, struct value *value)
{
	struct lexer *const lexer = v->lexer;
	struct ctype_use cast;
	bool is_cast = false;

	if (lexer_take_sign(lexer, "(")) {
		if (lexer_take_word(lexer, "return"))
			return take_result_scaled(v, value);
		if (!conf_take_type(lexer, &cast))
			return false;
		if (!is_integer(&cast) || !lexer_take_sign(lexer, ")"))
			return lexer_error(lexer,
					   "the type in brackets before a value must be an integer or a pointer, like "
					   "(int)arg2");
		is_cast = true;
	}
	if (!take_operand(v, is_cast ? &cast : NULL, value))
		return false;
	return !lexer_take_sign(lexer, "*") || take_product(v, value);
}

bool conf_take_value(struct conf *conf, struct lexer *lexer, const struct prototype *prototype, struct value *value)
{
	return take_value(&(struct values){conf, lexer, prototype}, value) && !lexer->failed;
}

/* ---- Conditions ---- */

static bool take_live(const struct values *v, struct condition *condition)
{
	condition->test = lexer_take_word(v->lexer, "not") ? TEST_NOT_LIVE : TEST_LIVE;
	if (!lexer_take_word(v->lexer, "live"))
		return lexer_error(v->lexer, "found %s where 'live' or 'not live' is expected", lexer_shown(v->lexer));
	return conf_value_take_resource(v, lexer_take_word(v->lexer, "in"), &condition->resource);
}

static bool check_at_entry(const struct values *v, const struct value *value)
{
	return !module_is_of_result(value) ||
	       lexer_error(v->lexer, "a condition is checked at the call's entry, where the result is not known yet");
}

static bool take_condition(const struct values *v, struct condition *condition)
{
	static const struct {
		const char *sign;
		unsigned char test;
	} tests[] = {
		{"==", TEST_EQUALS}, {"!=", TEST_DIFFERS}, {"<=", TEST_AT_MOST}, {"&", TEST_HAS}, {"!&", TEST_LACKS}};
	struct lexer *const lexer = v->lexer;

	*condition = (struct condition){.test = TEST_DIFFERS, .other = CONST(0)};
	if (!take_value(v, &condition->value) || !check_at_entry(v, &condition->value))
		return false;
	if (lexer_take_word(lexer, "is"))
		return take_live(v, condition);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		if (lexer_take_sign(lexer, tests[i].sign)) {
			condition->test = tests[i].test;
			return take_value(v, &condition->other) && check_at_entry(v, &condition->other);
		}
	if (lexer_is_sign(lexer, "<") || lexer_is_sign(lexer, ">") || lexer_is_sign(lexer, "="))
		return lexer_error(
			lexer,
			"%s is no comparison here; there are ==, !=, <=, & (has all bits), !& (has not all) and "
			"'is live'",
			lexer_shown(lexer));
	return true;
}

bool conf_take_conditions(struct conf *conf, struct lexer *lexer, const struct prototype *prototype,
			  struct condition *conditions, size_t max)
{
	const struct values v = {conf, lexer, prototype};
	bool has_and = false, has_or = false;

	for (size_t i = 0; take_condition(&v, &conditions[i]); i++) {
		const bool is_or = lexer_take_word(lexer, "or"), is_and = !is_or && lexer_take_word(lexer, "and");

		if (!is_or && !is_and)
			return !lexer->failed;
		conditions[i].or_next = is_or;
		has_or |= is_or, has_and |= is_and;
		if (has_or && has_and)
			return lexer_error(lexer, "join all conditions by 'and', or all of them by 'or'");
		if (i + 1 == max)
			return lexer_error(lexer, "there are more than %zu conditions", max);
	}
	return false;
}
