#include "config.h"
#include "modules/conf_parse.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The types of C, as far as a call's arguments need them: how wide each is, and whether it is passed as integers are.
 * What is 8 bytes in any program is one argument in programs of 64 bits, two in those of 32. */

static const struct {
	const char *name;
	unsigned char type; /* enum ctype */
	bool is_size;
} names[] = {
	{"size_t", C_UWORD, true},
	{"ssize_t", C_WORD, true},
	{"ptrdiff_t", C_WORD, true},
	{"intptr_t", C_WORD, false},
	{"uintptr_t", C_UWORD, false},
	{"pthread_t", C_UWORD, false},
	{"int32_t", C_INT, false},
	{"uint32_t", C_UINT, false},
	{"int16_t", C_INT16, false},
	{"uint16_t", C_UINT16, false},
	{"int8_t", C_INT8, false},
	{"uint8_t", C_UINT8, false},
	{"int64_t", C_WIDE, false},
	{"uint64_t", C_WIDE, false},
	{"bool", C_UINT8, false},
	{"_Bool", C_UINT8, false},
	{"wchar_t", C_INT, false},
	{"pid_t", C_INT, false},
	{"key_t", C_INT, false},
	{"uid_t", C_UINT, false},
	{"gid_t", C_UINT, false},
	{"mode_t", C_UINT, false},
	{"socklen_t", C_UINT, false},
	/* 8 bytes in some programs of 32 bits, 4 in others. */
	{"off_t", C_WIDE, false},
	{"off64_t", C_WIDE, false},
	{"time_t", C_WIDE, false},
	{"float", C_FLOAT, false},
	{"double", C_FLOAT, false},
};

static const char *const qualifiers[] = {"const",  "volatile", "restrict", "__restrict", "register", "extern",
					 "static", "inline",   "_Atomic",  "_Complex",   "typename", "__extension__"};

static bool take_one_of(struct scan *scan, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (scan_take_word(scan, words[i]))
			return true;
	return false;
}

/* The words of a type, counted: "unsigned long int" has one of three of them. */
struct words {
	unsigned is_unsigned, is_signed, longs, shorts, chars, ints, others;
	unsigned char type; /* of the other one */
	bool is_size;
};

static bool is_plain(const struct words *words)
{
	return words->is_unsigned || words->is_signed || words->longs || words->shorts || words->chars || words->ints;
}

/* "unsigned", "long" and their like. */
static bool take_plain(struct scan *scan, struct words *words)
{
	const struct {
		const char *word;
		unsigned *count;
	} plain[] = {{"unsigned", &words->is_unsigned}, {"signed", &words->is_signed}, {"long", &words->longs},
		     {"short", &words->shorts},         {"char", &words->chars},       {"int", &words->ints}};

	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		if (scan_take_word(scan, plain[i].word)) {
			++*plain[i].count;
			return true;
		}
	return false;
}

static bool take_tagged(struct scan *scan, struct words *words)
{
	static const char *const tags[] = {"struct", "union", "class"};
	const bool is_enum = scan_take_word(scan, "enum");

	if (!is_enum && !take_one_of(scan, tags, ARRAY_SIZE(tags)))
		return false;
	if (scan->token.kind != TOKEN_WORD)
		return scan_error(scan, "%s stands where the name of a struct, union or enum is to be",
				  scan_shown(scan));
	scan_next(scan);
	words->others++;
	words->type = is_enum ? C_INT : C_STRUCT;
	return true;
}

static void take_named(struct scan *scan, struct words *words)
{
	words->others++;
	words->type = scan_is_word(scan, "void") ? C_VOID : C_UNKNOWN;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (scan_is_word(scan, names[i].name)) {
			words->type = names[i].type;
			words->is_size = names[i].is_size;
		}
	scan_next(scan);
}

static unsigned char plain_type(const struct words *words)
{
	if (words->chars)
		/* char itself is signed or not, as the processor has it. */
		return words->is_unsigned ? C_UINT8 : C_INT8;
	if (words->shorts)
		return words->is_unsigned ? C_UINT16 : C_INT16;
	if (words->longs > 1)
		return C_WIDE;
	if (words->longs)
		return words->is_unsigned ? C_UWORD : C_WORD;
	return words->is_unsigned ? C_UINT : C_INT;
}

static bool take_words(struct scan *scan, struct words *words)
{
	while (scan->token.kind == TOKEN_WORD) {
		if (take_one_of(scan, qualifiers, ARRAY_SIZE(qualifiers)) || take_plain(scan, words))
			continue;
		/* A second name is that of a parameter or of the function. */
		if (words->others || is_plain(words))
			break;
		if (!take_tagged(scan, words) && !scan->failed)
			take_named(scan, words);
	}
	/* "long double" */
	if (words->longs && !words->others && scan_take_word(scan, "double"))
		*words = (struct words){.others = 1, .type = C_FLOAT};
	if (scan->failed)
		return false;
	if (!words->others && !is_plain(words))
		return scan_error(scan, "%s stands where a C type is to be", scan_shown(scan));
	return true;
}

static void point(struct ctype_use *use)
{
	*use = (struct ctype_use){
		.type = C_POINTER, .pointee = use->type, .is_string = use->type == C_INT8 && use->is_string};
}

bool conf_take_type(struct scan *scan, struct ctype_use *use)
{
	struct words words = {0};

	if (!take_words(scan, &words))
		return false;
	*use = (struct ctype_use){.type = words.others ? words.type : plain_type(&words),
				  .is_size = words.is_size,
				  .is_string = words.chars && !words.is_unsigned && !words.is_signed};
	for (;;)
		/* A reference of C++ is passed as a pointer is. */
		if (scan_take_sign(scan, "*") || scan_take_sign(scan, "&"))
			point(use);
		else if (!take_one_of(scan, qualifiers, ARRAY_SIZE(qualifiers)))
			return !scan->failed;
}

unsigned char conf_value_type(unsigned char ctype)
{
	static const unsigned char types[] = {[C_INT8] = TYPE_INT8,     [C_UINT8] = TYPE_UINT8, [C_INT16] = TYPE_INT16,
					      [C_UINT16] = TYPE_UINT16, [C_INT] = TYPE_INT,     [C_UINT] = TYPE_UINT};

	return ctype < ARRAY_SIZE(types) ? types[ctype] : TYPE_WORD;
}

/* ---- Prototypes ---- */

/* What stands between a bracket that was taken and the one that closes it, and that one. */
static bool skip_to(struct scan *scan, const char *open, const char *close)
{
	unsigned depth = 1;

	while (depth && scan->token.kind != TOKEN_END) {
		depth += scan_is_sign(scan, open);
		depth -= scan_is_sign(scan, close);
		scan_next(scan);
	}
	return !depth || scan_error(scan, "a '%s' without its '%s'", open, close);
}

static bool is_c_name(const struct token *token)
{
	for (size_t i = 0; i < token->length; i++)
		if (!isalnum((unsigned char)token->text[i]) && token->text[i] != '_')
			return false;
	return token->kind == TOKEN_WORD && !isdigit((unsigned char)token->text[0]);
}

/* The name of a value that is no parameter: `return`, `arg3` of another one than the third. */
static bool is_reserved(const struct scan *scan, unsigned index)
{
	char numbered[16];

	snprintf(numbered, sizeof(numbered), "arg%u", index + 1);
	return scan_is_word(scan, "return") ||
	       (scan->token.length == 4 && !memcmp(scan->token.text, "arg", 3) &&
		isdigit((unsigned char)scan->token.text[3]) && !scan_is_word(scan, numbered));
}

static bool name_param(struct scan *scan, struct conf_param *param, unsigned index)
{
	if (scan->token.kind != TOKEN_WORD)
		return true;
	if (!is_c_name(&scan->token) || is_reserved(scan, index))
		return scan_error(scan, "%s is no name for parameter %u", scan_shown(scan), index + 1);
	param->name = scan->token.text;
	param->length = scan->token.length;
	scan_next(scan);
	return true;
}

/* `void (*done)(void *)`, behind its first type and bracket. */
static bool take_function_pointer(struct scan *scan, struct conf_param *param, unsigned index)
{
	param->use = (struct ctype_use){.type = C_POINTER, .pointee = C_UNKNOWN};
	if (!scan_take_sign(scan, "*"))
		return scan_error(scan, "%s stands where the '*' of a pointer to a function is to be",
				  scan_shown(scan));
	if (!name_param(scan, param, index))
		return false;
	if (!scan_take_sign(scan, ")") || !scan_take_sign(scan, "("))
		return scan_error(scan, "a pointer to a function is written like void (*done)(void *), not with %s",
				  scan_shown(scan));
	return skip_to(scan, "(", ")");
}

static bool take_param(struct scan *scan, struct prototype *prototype)
{
	if (prototype->param_count == CONF_PARAMS)
		return scan_error(scan, "a function of more than %d parameters; the first %d are enough here",
				  CONF_PARAMS, MODULE_ARGS);
	struct conf_param *const param = &prototype->params[prototype->param_count];

	*param = (struct conf_param){.name = ""};
	if (!conf_take_type(scan, &param->use))
		return false;
	if (scan_take_sign(scan, "(")) {
		if (!take_function_pointer(scan, param, prototype->param_count))
			return false;
	} else if (!name_param(scan, param, prototype->param_count)) {
		return false;
	}
	while (scan_take_sign(scan, "[")) {
		point(&param->use);
		if (!skip_to(scan, "[", "]"))
			return false;
	}
	for (unsigned i = 0; i < prototype->param_count; i++)
		if (param->length && prototype->params[i].length == param->length &&
		    !memcmp(prototype->params[i].name, param->name, param->length))
			return scan_error(scan, "two parameters are called '%.*s'", (int)param->length, param->name);
	/* (void) */
	if (param->use.type != C_VOID)
		prototype->param_count++;
	else if (param->length || prototype->param_count || !scan_is_sign(scan, ")"))
		return scan_error(scan, "a parameter cannot be void");
	return true;
}

static bool take_params(struct scan *scan, struct prototype *prototype)
{
	if (!scan_take_sign(scan, "("))
		return scan_error(scan,
				  "%s stands where the parameters in brackets are to be, as in void *get(size_t size)",
				  scan_shown(scan));
	if (scan_take_sign(scan, ")"))
		return true;
	do {
		if (scan_take_sign(scan, "..."))
			break;
		if (!take_param(scan, prototype))
			return false;
	} while (scan_take_sign(scan, ","));
	if (!scan_take_sign(scan, ")"))
		return scan_error(scan, "%s stands where a ',' or the ')' behind the parameters is to be",
				  scan_shown(scan));
	return true;
}

static bool take_pattern(struct scan *scan, struct prototype *prototype)
{
	prototype->is_pattern = true;
	prototype->name = scan->token.text;
	prototype->length = scan->token.length;
	if (!prototype->length)
		return scan_error(scan, "an empty pattern is no function's");
	scan_next(scan);
	return true;
}

bool conf_take_prototype(struct scan *scan, struct prototype *prototype)
{
	const bool may_be_name = scan->token.kind == TOKEN_WORD;
	const struct token first = scan->token;

	*prototype = (struct prototype){.name = ""};
	if (scan->token.kind == TOKEN_STRING)
		return take_pattern(scan, prototype);
	if (!conf_take_type(scan, &prototype->result))
		return false;
	prototype->has_result = true;
	if (scan->token.kind == TOKEN_STRING)
		return take_pattern(scan, prototype);
	if (may_be_name && prototype->result.type == C_UNKNOWN && scan_is_sign(scan, "("))
		return scan_error(
			scan,
			"the type of the result is missing: write it before '%.*s', as C does (void, int, void *)",
			(int)first.length, first.text);
	if (scan->token.kind != TOKEN_WORD || memchr(scan->token.text, '-', scan->token.length) ||
	    isdigit((unsigned char)scan->token.text[0]))
		return scan_error(scan,
				  "%s stands where the function's name is to be; a pattern of C++ names is quoted",
				  scan_shown(scan));
	prototype->name = scan->token.text;
	prototype->length = scan->token.length;
	scan_next(scan);
	if (!take_params(scan, prototype))
		return false;
	while (scan_take_word(scan, "__attribute__"))
		if (!scan_take_sign(scan, "(") || !skip_to(scan, "(", ")"))
			return scan_error(scan, "an attribute is written __attribute__((NAME))");
	scan_take_sign(scan, ";");
	return !scan->failed;
}
