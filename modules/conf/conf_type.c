#include "config.h"
#include "modules/conf/conf_parse.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Reads the types of C, as far as a call's arguments need them: how wide a type is, and whether it is passed like an
 * integer. A type that always has 8 bytes is one argument in 64-bit programs, and two in 32-bit programs. */

static const struct {
	const char *name;
	unsigned char type;  /* enum ctype */
	unsigned char param; /* enum param_type */
} names[] = {
	{"size_t", C_UWORD, PARAM_SIZE},
	{"ssize_t", C_WORD, PARAM_LONG},
	{"ptrdiff_t", C_WORD, PARAM_LONG},
	{"intptr_t", C_WORD, PARAM_LONG},
	{"uintptr_t", C_UWORD, PARAM_HEX_LONG},
	{"pthread_t", C_UWORD, PARAM_HEX_LONG},
	{"int32_t", C_INT, PARAM_INT},
	{"uint32_t", C_UINT, PARAM_UINT},
	{"int16_t", C_INT16, PARAM_INT16},
	{"uint16_t", C_UINT16, PARAM_UINT16},
	{"int8_t", C_INT8, PARAM_INT8},
	{"uint8_t", C_UINT8, PARAM_UINT8},
	{"int64_t", C_WIDE, PARAM_INT64},
	{"uint64_t", C_WIDE, PARAM_UINT64},
	{"bool", C_UINT8, PARAM_BOOL},
	{"_Bool", C_UINT8, PARAM_BOOL},
	{"wchar_t", C_INT, PARAM_WCHAR},
	{"error_t", C_INT, PARAM_ERROR},
	{"pid_t", C_INT, PARAM_INT},
	{"key_t", C_INT, PARAM_HEX},
	{"uid_t", C_UINT, PARAM_UINT},
	{"gid_t", C_UINT, PARAM_UINT},
	{"mode_t", C_UINT, PARAM_OCTAL},
	{"socklen_t", C_UINT, PARAM_UINT},
	/* 8 bytes in some 32-bit programs and 4 in others; shown as if they had 4 in all. */
	{"off_t", C_WIDE, PARAM_LONG},
	{"off64_t", C_WIDE, PARAM_INT64},
	{"time_t", C_WIDE, PARAM_LONG},
	{"float", C_FLOAT, PARAM_FLOAT},
	{"double", C_FLOAT, PARAM_DOUBLE},
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

/* How often each word of a type occurs: "unsigned long int" has three of them once. */
struct conf_type_words {
	unsigned is_unsigned, is_signed, longs, shorts, chars, ints, others;
	struct ctype_use use; /* if the type is a name */
};

static bool conf_type_is_plain(const struct conf_type_words *words)
{
	return words->is_unsigned || words->is_signed || words->longs || words->shorts || words->chars || words->ints;
}

/* Takes "unsigned", "long" and the like. */
static bool conf_type_take_plain(struct scan *scan, struct conf_type_words *words)
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

/* Takes a type that the file describes: an enum, flags or a union. Returns false if it describes no such type. */
static bool take_described(struct scan *scan, struct conf_type_words *words)
{
	const struct conf_words *const known =
		scan->conf ? conf_words_find(scan->conf, scan->token.text, scan->token.length) : NULL;

	if (!known)
		return false;
	words->use = known->use;
	return true;
}

static bool take_tagged(struct scan *scan, struct conf_type_words *words)
{
	static const char *const tags[] = {"struct", "union", "class"};
	const bool is_enum = scan_take_word(scan, "enum");

	if (!is_enum && !take_one_of(scan, tags, ARRAY_SIZE(tags)))
		return false;
	if (scan->token.kind != TOKEN_WORD)
		return scan_error(scan, "found %s where the name of a struct, union or enum is expected",
				  scan_shown(scan));
	words->others++;
	words->use.type = is_enum ? C_INT : C_STRUCT;
	/* For a struct, `param` is for pointers to it. */
	words->use.param = is_enum ? PARAM_INT : scan_is_word(scan, "sockaddr") ? PARAM_SOCKADDR : PARAM_END;
	if (is_enum)
		take_described(scan, words);
	scan_next(scan);
	return true;
}

static void conf_type_take_named(struct scan *scan, struct conf_type_words *words)
{
	words->others++;
	words->use.type = scan_is_word(scan, "void") ? C_VOID : C_UNKNOWN;
	if (!take_described(scan, words))
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (scan_is_word(scan, names[i].name)) {
				words->use.type = names[i].type;
				words->use.param = names[i].param;
			}
	scan_next(scan);
}

static unsigned char plain_type(const struct conf_type_words *words)
{
	if (words->chars)
		/* Whether char is signed depends on the processor. */
		return words->is_unsigned ? C_UINT8 : C_INT8;
	if (words->shorts)
		return words->is_unsigned ? C_UINT16 : C_INT16;
	if (words->longs > 1)
		return C_WIDE;
	if (words->longs)
		return words->is_unsigned ? C_UWORD : C_WORD;
	return words->is_unsigned ? C_UINT : C_INT;
}

static unsigned char plain_param(const struct conf_type_words *words)
{
	static const unsigned char params[] = {
		[C_INT8] = PARAM_INT8, [C_UINT8] = PARAM_UINT8, [C_INT16] = PARAM_INT16, [C_UINT16] = PARAM_UINT16,
		[C_INT] = PARAM_INT,   [C_UINT] = PARAM_UINT,   [C_WORD] = PARAM_LONG,   [C_UWORD] = PARAM_SIZE};
	const unsigned char type = plain_type(words);

	if (words->chars && !words->is_unsigned && !words->is_signed)
		return PARAM_CHAR;
	if (type == C_WIDE)
		return words->is_unsigned ? PARAM_UINT64 : PARAM_INT64;
	return params[type];
}

static bool conf_type_take_words(struct scan *scan, struct conf_type_words *words)
{
	while (scan->token.kind == TOKEN_WORD) {
		if (take_one_of(scan, qualifiers, ARRAY_SIZE(qualifiers)) || conf_type_take_plain(scan, words))
			continue;
		/* A second name is that of the parameter or the function. */
		if (words->others || conf_type_is_plain(words))
			break;
		if (!take_tagged(scan, words) && !scan->failed)
			conf_type_take_named(scan, words);
	}
	/* "long double" */
	if (words->longs && !words->others && scan_take_word(scan, "double"))
		*words = (struct conf_type_words){.others = 1, .use.type = C_FLOAT};
	if (scan->failed)
		return false;
	if (!words->others && !conf_type_is_plain(words))
		return scan_error(scan, "found %s where a C type is expected", scan_shown(scan));
	return true;
}

static void make_pointer(struct ctype_use *use)
{
	const unsigned char to = use->param;
	unsigned char param = PARAM_POINTER;

	if (use->type != C_POINTER && to == PARAM_CHAR)
		param = PARAM_STRING;
	else if (use->type != C_POINTER && to == PARAM_WCHAR)
		param = PARAM_WIDE;
	else if (use->type == C_STRUCT && to == PARAM_SOCKADDR)
		param = PARAM_SOCKADDR;
	/* char *const argv[]; a char ** without const may be an output. */
	else if (use->type == C_POINTER && to == PARAM_STRING && use->is_const)
		param = PARAM_STRINGS;
	*use = (struct ctype_use){.type = C_POINTER, .pointee = use->type, .param = param, .to = to};
}

bool conf_take_type(struct scan *scan, struct ctype_use *use)
{
	struct conf_type_words words = {0};

	if (!conf_type_take_words(scan, &words))
		return false;
	if (words.others)
		*use = words.use;
	else
		*use = (struct ctype_use){.type = plain_type(&words), .param = plain_param(&words)};
	for (;;)
		/* C++ passes references like pointers. */
		if (scan_take_sign(scan, "*") || scan_take_sign(scan, "&"))
			make_pointer(use);
		else if (scan_take_word(scan, "const"))
			use->is_const = true;
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

/* Skips everything up to the bracket that closes an open one, and that bracket. */
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

/* Whether the token is the name of a value, and so not one for parameter `index`: `return`, or `arg3` for another
 * parameter than the third. */
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
	param->is_label = scan->token.kind == TOKEN_STRING && scan->token.length;
	if (scan->token.kind != TOKEN_WORD && !param->is_label)
		return true;
	if (!param->is_label && (!conf_is_c_name(&scan->token) || is_reserved(scan, index)))
		return scan_error(scan, "%s is no name for parameter %u", scan_shown(scan), index + 1);
	param->name = (struct conf_name){scan->token.text, scan->token.length};
	scan_next(scan);
	return true;
}

/* Takes `void (*done)(void *)`, after its first type and bracket. */
static bool take_function_pointer(struct scan *scan, struct conf_param *param, unsigned index)
{
	param->use = (struct ctype_use){.type = C_POINTER, .pointee = C_UNKNOWN, .param = PARAM_FUNCTION};
	if (!scan_take_sign(scan, "*"))
		return scan_error(scan, "found %s where the '*' of a pointer to a function is expected",
				  scan_shown(scan));
	if (!name_param(scan, param, index))
		return false;
	if (!scan_take_sign(scan, ")") || !scan_take_sign(scan, "("))
		return scan_error(scan, "a pointer to a function is written like void (*done)(void *), not with %s",
				  scan_shown(scan));
	return skip_to(scan, "(", ")");
}

/* `hex`: the number is shown as a hexadecimal one. */
static bool set_hex(struct ctype_use *use)
{
	if (use->type == C_INT || use->type == C_UINT)
		use->param = PARAM_HEX;
	else if (use->type == C_WORD || use->type == C_UWORD)
		use->param = PARAM_HEX_LONG;
	else
		return false;
	return true;
}

/* Takes a type, after words that say how it is shown. is_result: NULL if `out` is not allowed. */
static bool take_shown_type(struct scan *scan, struct ctype_use *use, bool *is_result)
{
	bool is_hex = false;

	for (;;)
		if (is_result && scan_take_word(scan, "out"))
			*is_result = true;
		else if (scan_take_word(scan, "hex"))
			is_hex = true;
		else
			break;
	if (!conf_take_type(scan, use))
		return false;
	return !is_hex || set_hex(use) ||
	       scan_error(scan, "'hex' needs the type of an int or a long, and this type is neither");
}

/* Sets how an output is shown at the return. Returns false if the parameter cannot be one. */
static bool set_filled(struct conf_param *param)
{
	struct ctype_use *const use = &param->use;

	if (use->type != C_POINTER)
		return false;
	if (use->param != PARAM_POINTER)
		return use->param != PARAM_FUNCTION && use->param != PARAM_STRINGS;
	if (use->pointee == C_INT || use->pointee == C_UINT) {
		use->param = PARAM_INTS;
		param->count = param->count ? param->count : 1;
	} else if (use->pointee == C_POINTER || use->pointee == C_WORD || use->pointee == C_UWORD) {
		use->param = PARAM_INDIRECT;
	} else {
		return false;
	}
	return true;
}

static bool take_brackets(struct scan *scan, struct conf_param *param)
{
	while (scan_take_sign(scan, "[")) {
		if (!conf_take_length(scan, param))
			return false;
		const unsigned char sized = param->with.length ? param->use.param : PARAM_END;

		make_pointer(&param->use);
		if (sized)
			param->use.param = sized;
		if (!skip_to(scan, "[", "]"))
			return false;
	}
	return true;
}

/* Takes a declaration: `const char *name`, `void (*done)(void *)`, `int pair[2]` */
static bool take_declared(struct scan *scan, struct conf_param *param, unsigned index)
{
	*param = (struct conf_param){.name = {"", 0}};
	if (!take_shown_type(scan, &param->use, &param->is_result))
		return false;
	if (scan_take_sign(scan, "(") ? !take_function_pointer(scan, param, index) : !name_param(scan, param, index))
		return false;
	return take_brackets(scan, param);
}

bool conf_take_shown_type(struct scan *scan, struct ctype_use *use)
{
	struct conf_param param;

	if (!take_declared(scan, &param, 0))
		return false;
	*use = param.use;
	return (!param.name.length && !param.is_result && !param.with.length) ||
	       scan_error(scan, "a type without a name is expected here");
}

static bool take_param(struct scan *scan, struct prototype *prototype)
{
	if (prototype->param_count == CONF_PARAMS)
		return scan_error(scan, "the function has more than %d parameters; write only the first %d",
				  CONF_PARAMS, MODULE_ARGS);
	struct conf_param *const param = &prototype->params[prototype->param_count];
	const bool is_hidden = scan_take_word(scan, "hidden");

	if (!take_declared(scan, param, prototype->param_count))
		return false;
	if (param->is_result && !set_filled(param))
		return scan_error(scan,
				  "'out' needs a pointer that the function fills, to a number, to a pointer or to a "
				  "string, and parameter %u is no such pointer",
				  prototype->param_count + 1);
	for (unsigned i = 0; i < prototype->param_count; i++)
		if (param->name.length && conf_is_same_name(&prototype->params[i].name, &param->name))
			return scan_error(scan, "two parameters are called '%.*s'", (int)param->name.length,
					  param->name.text);
	/* (void) */
	if (param->use.type == C_VOID)
		return (!param->name.length && !prototype->param_count && scan_is_sign(scan, ")")) ||
		       scan_error(scan, "a parameter cannot be void");
	prototype->param_count++;
	if (!conf_take_condition(scan, param))
		return false;
	if (is_hidden)
		*param = (struct conf_param){
			.name = param->name,
			.use = {.type = param->use.type, .pointee = param->use.pointee, .param = PARAM_NONE}};
	return true;
}

static bool take_params(struct scan *scan, struct prototype *prototype)
{
	if (!scan_take_sign(scan, "("))
		return scan_error(scan,
				  "found %s where the parameters in brackets are expected, as in void *get(size_t "
				  "size)",
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
		return scan_error(scan, "found %s where ',' or the ')' after the parameters is expected",
				  scan_shown(scan));
	return true;
}

static bool take_pattern(struct scan *scan, struct prototype *prototype)
{
	prototype->is_pattern = true;
	prototype->name = scan->token.text;
	prototype->length = scan->token.length;
	if (!prototype->length)
		return scan_error(scan, "the pattern is empty and matches no function");
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
	if (!take_shown_type(scan, &prototype->result, NULL))
		return false;
	if (prototype->result.cases)
		return scan_error(scan, "the type of a result cannot be a union, which depends on a parameter");
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
		return scan_error(scan, "found %s where the function's name is expected; quote a pattern of C++ names",
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
