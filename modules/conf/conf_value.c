#include "config.h"
#include "modules/conf/conf_parse.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Reads values of a call (`return`, `size`, `count*each`, `*out`, `arg2`), and conditions on them. */

struct values {
	struct conf *conf;
	struct scan *scan;
	const struct prototype *prototype;
};

/* An argument of the call, as a value names it. */
struct argument {
	unsigned char index;
	bool is_numbered; /* argN, whose type is unknown */
	struct ctype_use use;
};

static bool is_integer(const struct ctype_use *use)
{
	return use->type >= C_INT8 && use->type <= C_POINTER;
}

/* Checks that the place of an argument is known: each argument before it must take one place. */
static bool check_places(struct scan *scan, const struct prototype *prototype, unsigned index)
{
	const unsigned char result = prototype->result.type;

	if (result == C_STRUCT)
		return scan_error(scan,
				  "'%.*s' returns a struct by value, so the places of its parameters are unknown: "
				  "write argN (arg1, arg2... are the places of integer arguments)",
				  (int)prototype->length, prototype->name);
	for (unsigned i = 0; i <= index; i++) {
		const struct conf_param *const param = &prototype->params[i];

		if (is_integer(&param->use) || (param->use.type == C_WIDE && !index))
			continue;
		if (param->use.type == C_WIDE)
			return scan_error(scan,
					  "parameter %u has 8 bytes in any program: one argument in programs of 64 "
					  "bits, two in programs of 32 bits. For programs of 64 bits write it as long "
					  "or size_t",
					  i + 1);
		if (param->use.type == C_FLOAT)
			return scan_error(scan,
					  "parameter %u is a floating-point number, which is not among the integer "
					  "arguments (except in i386 programs, where it is on the stack): leave it "
					  "out of the prototype, except for i386",
					  i + 1);
		if (param->use.type == C_STRUCT)
			return scan_error(scan,
					  "parameter %u is a struct by value, so its place and the places after it "
					  "are unknown: write argN (arg1, arg2... are the places of integer arguments)",
					  i + 1);
		return scan_error(scan,
				  "the type of parameter %u is not known here: write what it is (int, long, void *)",
				  i + 1);
	}
	return true;
}

static bool check_index(struct scan *scan, unsigned index)
{
	return index < MODULE_ARGS ||
	       scan_error(scan, "argument %u is out of reach: functrace reads the first %d", index + 1, MODULE_ARGS);
}

/* Returns N for `argN`, 1 for `this`, or 0 for another word. */
static unsigned argument_number(const struct values *v)
{
	const struct token *const token = &v->scan->token;
	unsigned number = 0;

	if (v->prototype->is_pattern && scan_is_word(v->scan, "this"))
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
	return scan_error(v->scan,
			  "%s is no value; known are: %sarg1 to arg%d, return, numbers, *NAME, NAME[INDEX], "
			  "NAME*NAME, NAME*NUMBER, strsize(NAME), pages(NAME)",
			  scan_shown(v->scan), known, MODULE_ARGS);
}

/* Takes the name of an argument, and checks that the argument can be read. */
static bool take_argument(const struct values *v, struct argument *argument)
{
	const struct prototype *const prototype = v->prototype;
	const struct token *const token = &v->scan->token;

	for (unsigned i = 0; token->kind == TOKEN_WORD && i < prototype->param_count; i++) {
		const struct conf_param *const param = &prototype->params[i];

		if (param->is_label || param->name.length != token->length ||
		    memcmp(param->name.text, token->text, token->length))
			continue;
		if (!check_index(v->scan, i) || !check_places(v->scan, prototype, i))
			return false;
		*argument = (struct argument){(unsigned char)i, false, param->use};
		scan_next(v->scan);
		return true;
	}
	const unsigned number = token->kind == TOKEN_WORD ? argument_number(v) : 0;

	if (!number)
		return conf_value_unknown_name(v);
	if (!check_index(v->scan, number - 1))
		return false;
	*argument = (struct argument){(unsigned char)(number - 1), true, {.type = C_UWORD, .pointee = C_UWORD}};
	scan_next(v->scan);
	return true;
}

static bool set_pointee(const struct values *v, const struct argument *argument, unsigned char index,
			const struct ctype_use *cast, struct value *value)
{
	const struct ctype_use pointee = {.type = cast ? cast->type : argument->use.pointee};

	if (argument->use.type != C_POINTER && !argument->is_numbered)
		return scan_error(v->scan, "argument %u is no pointer", argument->index + 1);
	if (!is_integer(&pointee))
		return scan_error(v->scan,
				  "argument %u points to a type that cannot be read: write the type to read, like "
				  "(size_t)*NAME or (int)NAME[1]",
				  argument->index + 1);
	*value = (struct value){VALUE_POINTEE, argument->index, index, conf_value_type(pointee.type), 0};
	return true;
}

static bool conf_value_take_index(const struct values *v, unsigned char *index)
{
	const struct token token = v->scan->token;

	if (token.kind != TOKEN_NUMBER || token.number > UINT8_MAX)
		return scan_error(v->scan, "found %s where an index from 0 to %d is expected", scan_shown(v->scan),
				  UINT8_MAX);
	*index = (unsigned char)token.number;
	scan_next(v->scan);
	return scan_take_sign(v->scan, "]") || scan_error(v->scan, "a '[' without its ']'");
}

/* Takes the name of a resource, or without one chooses the only resource. */
static bool conf_value_take_resource(const struct values *v, bool is_named, unsigned char *resource)
{
	struct scan *const scan = v->scan;
	int index = 0;

	if (is_named) {
		index = scan->token.kind == TOKEN_WORD ? conf_resource(v->conf, scan->token.text, scan->token.length)
						       : -1;
		if (index < 0)
			return scan_error(scan, "%s is no resource that is described above", scan_shown(scan));
		scan_next(scan);
	} else if (v->conf->resource_count > 1) {
		return scan_error(scan, "the file has several resources: say which is meant");
	}
	*resource = (unsigned char)index;
	return true;
}

/* Takes `strsize(name)`, after its word and bracket. */
static bool take_function(const struct values *v, unsigned char kind, unsigned char of_result, struct value *value)
{
	struct argument argument;

	*value = (struct value){kind, 0, 0, TYPE_WORD, 0};
	if (of_result && scan_take_word(v->scan, "return")) {
		value->kind = of_result;
	} else {
		if (!take_argument(v, &argument))
			return false;
		value->a = argument.index;
		value->type = conf_value_type(argument.use.type);
	}
	if ((kind == VALUE_LIVE_SIZE || kind == VALUE_KEPT) &&
	    !conf_value_take_resource(v, scan_take_sign(v->scan, ","), &value->b))
		return false;
	return scan_take_sign(v->scan, ")") || scan_error(v->scan, "a '(' without its ')'");
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

/* Whether a bracket follows the word; if not, the word is the name of a parameter. */
static bool is_call_ahead(const struct scan *scan)
{
	const char *at = scan->at;

	while (at < scan->end && (*at == ' ' || *at == '\t'))
		at++;
	return at < scan->end && *at == '(';
}

static bool take_operand(const struct values *v, const struct ctype_use *cast, struct value *value)
{
	struct scan *const scan = v->scan;
	struct argument argument;
	unsigned char index = 0;

	if (scan->token.kind == TOKEN_NUMBER) {
		*value = (struct value){VALUE_CONST, 0, 0, TYPE_WORD, scan->token.number};
		scan_next(scan);
		return true;
	}
	if (scan_take_word(scan, "return")) {
		*value = (struct value){VALUE_RESULT, 0, 0, TYPE_WORD, 0};
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (scan_is_word(scan, functions[i].word) && is_call_ahead(scan)) {
			scan_next(scan);
			scan_next(scan);
			return take_function(v, functions[i].kind, functions[i].of_result, value);
		}
	if (scan_take_sign(scan, "*"))
		return take_argument(v, &argument) && set_pointee(v, &argument, 0, cast, value);
	if (!take_argument(v, &argument))
		return false;
	if (scan_take_sign(scan, "["))
		return conf_value_take_index(v, &index) && set_pointee(v, &argument, index, cast, value);
	*value =
		(struct value){VALUE_ARG, argument.index, 0, conf_value_type(cast ? cast->type : argument.use.type), 0};
	return true;
}

/* Takes `(return+MORE)*NUMBER`, after its first bracket and word. */
static bool take_result_scaled(const struct values *v, struct value *value)
{
	struct scan *const scan = v->scan;
	uint64_t more = 0;

	if (scan_take_sign(scan, "+")) {
		more = scan->token.kind == TOKEN_NUMBER ? scan->token.number : UINT64_MAX;
		scan_next(scan);
	}
	if (more > UINT8_MAX || !scan_take_sign(scan, ")") || !scan_take_sign(scan, "*") ||
	    scan->token.kind != TOKEN_NUMBER)
		return scan_error(scan, "the sum of the result and a number, times another number, is written "
					"(return+1)*4");
	*value = (struct value){VALUE_RESULT_SCALED, 0, (unsigned char)more, TYPE_WORD, scan->token.number};
	scan_next(scan);
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
		/* For VALUE_ARG_TIMES, `number` is the type of the second argument. */
		*value = (struct value){VALUE_ARG_TIMES, a.a, b.a, a.type, b.type};
	else if (a.kind == VALUE_ARG && b.kind == VALUE_CONST)
		*value = (struct value){VALUE_ARG_SCALED, a.a, 0, a.type, b.number};
	else if (a.kind == VALUE_RESULT && b.kind == VALUE_CONST)
		*value = (struct value){VALUE_RESULT_SCALED, 0, 0, TYPE_WORD, b.number};
	else if (a.kind == VALUE_CONST && b.kind == VALUE_CONST)
		*value = (struct value){VALUE_CONST, 0, 0, TYPE_WORD, mul_saturated(a.number, b.number)};
	else
		return scan_error(v->scan,
				  "a product is of two arguments, of an argument and a number, or of the result and "
				  "a number");
	if (scan_is_sign(v->scan, "*"))
		return scan_error(v->scan, "a product has two factors, no more");
	return true;
}

static bool take_value(const struct values *v, struct value *value)
{
	struct scan *const scan = v->scan;
	struct ctype_use cast;
	bool is_cast = false;

	if (scan_take_sign(scan, "(")) {
		if (scan_take_word(scan, "return"))
			return take_result_scaled(v, value);
		if (!conf_take_type(scan, &cast))
			return false;
		if (!is_integer(&cast) || !scan_take_sign(scan, ")"))
			return scan_error(scan,
					  "the type in brackets before a value must be an integer or a pointer, like "
					  "(int)arg2");
		is_cast = true;
	}
	if (!take_operand(v, is_cast ? &cast : NULL, value))
		return false;
	return !scan_take_sign(scan, "*") || take_product(v, value);
}

bool conf_take_value(struct conf *conf, struct scan *scan, const struct prototype *prototype, struct value *value)
{
	return take_value(&(struct values){conf, scan, prototype}, value) && !scan->failed;
}

/* ---- Conditions ---- */

static bool take_live(const struct values *v, struct condition *condition)
{
	condition->test = scan_take_word(v->scan, "not") ? TEST_NOT_LIVE : TEST_LIVE;
	if (!scan_take_word(v->scan, "live"))
		return scan_error(v->scan, "found %s where 'live' or 'not live' is expected", scan_shown(v->scan));
	return conf_value_take_resource(v, scan_take_word(v->scan, "in"), &condition->resource);
}

static bool check_at_entry(const struct values *v, const struct value *value)
{
	return (value->kind != VALUE_RESULT && value->kind != VALUE_RESULT_SCALED &&
		value->kind != VALUE_RESULT_STRING_SIZE && value->kind != VALUE_RESULT_WIDE_SIZE) ||
	       scan_error(v->scan, "a condition is checked at the call's entry, where the result is not known yet");
}

static bool take_condition(const struct values *v, struct condition *condition)
{
	static const struct {
		const char *sign;
		unsigned char test;
	} tests[] = {
		{"==", TEST_EQUALS}, {"!=", TEST_DIFFERS}, {"<=", TEST_AT_MOST}, {"&", TEST_HAS}, {"!&", TEST_LACKS}};
	struct scan *const scan = v->scan;

	*condition = (struct condition){.test = TEST_DIFFERS, .other = CONST(0)};
	if (!take_value(v, &condition->value) || !check_at_entry(v, &condition->value))
		return false;
	if (scan_take_word(scan, "is"))
		return take_live(v, condition);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		if (scan_take_sign(scan, tests[i].sign)) {
			condition->test = tests[i].test;
			return take_value(v, &condition->other) && check_at_entry(v, &condition->other);
		}
	if (scan_is_sign(scan, "<") || scan_is_sign(scan, ">") || scan_is_sign(scan, "="))
		return scan_error(
			scan,
			"%s is no comparison here; there are ==, !=, <=, & (has all bits), !& (has not all) and "
			"'is live'",
			scan_shown(scan));
	return true;
}

bool conf_take_conditions(struct conf *conf, struct scan *scan, const struct prototype *prototype,
			  struct condition *conditions, size_t max)
{
	const struct values v = {conf, scan, prototype};
	bool has_and = false, has_or = false;

	for (size_t i = 0; take_condition(&v, &conditions[i]); i++) {
		const bool is_or = scan_take_word(scan, "or"), is_and = !is_or && scan_take_word(scan, "and");

		if (!is_or && !is_and)
			return !scan->failed;
		conditions[i].or_next = is_or;
		has_or |= is_or, has_and |= is_and;
		if (has_or && has_and)
			return scan_error(scan, "conditions are joined by 'and' only, or by 'or' only");
		if (i + 1 == max)
			return scan_error(scan, "there are more than %zu conditions", max);
	}
	return false;
}
