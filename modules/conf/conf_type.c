#include "config.h"
#include "modules/conf/conf_parse.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Parses C types, as far as it is necessary to read arguments: how wide a type is, and whether it is passed like an
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
	/* off_t and time_t have 8 bytes in some 32-bit programs and 4 in others. -a shows them as if they had 4 bytes
	 * in all 32-bit programs. */
	{"off_t", C_WIDE, PARAM_LONG},
	{"off64_t", C_WIDE, PARAM_INT64},
	{"time_t", C_WIDE, PARAM_LONG},
	{"float", C_FLOAT, PARAM_FLOAT},
	{"double", C_FLOAT, PARAM_DOUBLE},
};

static const char *const qualifiers[] = {"const",  "volatile", "restrict", "__restrict", "register", "extern",
					 "static", "inline",   "_Atomic",  "_Complex",   "typename", "__extension__"};

static bool take_one_of(struct lexer *lexer, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (lexer_take_word(lexer, words[i]))
			return true;
	return false;
}

/* The number of times that each word occurs in a type. For "unsigned long int", is_unsigned, longs and ints are 1. */
struct conf_type_words {
	unsigned is_unsigned, is_signed, longs, shorts, chars, ints, others;
	struct ctype_use use; /* the type's properties, if the type is a name */
};

static bool conf_type_is_plain(const struct conf_type_words *words)
{
	return words->is_unsigned || words->is_signed || words->longs || words->shorts || words->chars || words->ints;
}

/* Parses a word of a basic type, such as "unsigned" or "long". */
static bool conf_type_take_plain(struct lexer *lexer, struct conf_type_words *words)
{
	const struct {
		const char *word;
		unsigned *count;
	} plain[] = {{"unsigned", &words->is_unsigned}, {"signed", &words->is_signed}, {"long", &words->longs},
		     {"short", &words->shorts},         {"char", &words->chars},       {"int", &words->ints}};

	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		if (lexer_take_word(lexer, plain[i].word)) {
			++*plain[i].count;
			return true;
		}
	return false;
}

/* Parses a type that the file describes: an enum, flags or a union. Returns false if the file describes no such
 * type. */
static bool take_described(struct lexer *lexer, struct conf_type_words *words)
{
	const struct conf_words *const known =
		lexer->conf ? conf_words_find(lexer->conf, lexer->token.text, lexer->token.length) : NULL;

	if (!known)
		return false;
	words->use = known->use;
	return true;
}

static bool take_tagged(struct lexer *lexer, struct conf_type_words *words)
{
	static const char *const tags[] = {"struct", "union", "class"};
	const bool is_enum = lexer_take_word(lexer, "enum");

	if (!is_enum && !take_one_of(lexer, tags, ARRAY_SIZE(tags)))
		return false;
	if (lexer->token.kind != TOKEN_WORD)
		return lexer_error(lexer, "found %s where the name of a struct, union or enum is expected",
				   lexer_shown(lexer));
	words->others++;
	words->use.type = is_enum ? C_INT : C_STRUCT;
	/* For a struct, `param` describes pointers to the struct. */
	words->use.param = is_enum ? PARAM_INT : lexer_is_word(lexer, "sockaddr") ? PARAM_SOCKADDR : PARAM_END;
	if (is_enum)
		take_described(lexer, words);
	lexer_next(lexer);
	return true;
}

static void conf_type_take_named(struct lexer *lexer, struct conf_type_words *words)
{
	words->others++;
	words->use.type = lexer_is_word(lexer, "void") ? C_VOID : C_UNKNOWN;
	if (!take_described(lexer, words))
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (lexer_is_word(lexer, names[i].name)) {
				words->use.type = names[i].type;
				words->use.param = names[i].param;
			}
	lexer_next(lexer);
}

static unsigned char plain_type(const struct conf_type_words *words)
{
	if (words->chars)
		/* Treats plain char as signed, although that depends on the processor. */
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

static bool conf_type_take_words(struct lexer *lexer, struct conf_type_words *words)
{
	while (lexer->token.kind == TOKEN_WORD) {
		if (take_one_of(lexer, qualifiers, ARRAY_SIZE(qualifiers)) || conf_type_take_plain(lexer, words))
			continue;
		/* A second name is that of the parameter or the function. */
		if (words->others || conf_type_is_plain(words))
			break;
		if (!take_tagged(lexer, words) && !lexer->failed)
			conf_type_take_named(lexer, words);
	}
	/* Parses "long double". */
	if (words->longs && !words->others && lexer_take_word(lexer, "double"))
		*words = (struct conf_type_words){.others = 1, .use.type = C_FLOAT};
	if (lexer->failed)
		return false;
	if (!words->others && !conf_type_is_plain(words))
		return lexer_error(lexer, "found %s where a C type is expected", lexer_shown(lexer));
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
	/* char *const argv[] is an array of strings; a char ** without const may be an output. */
	else if (use->type == C_POINTER && to == PARAM_STRING && use->is_const)
		param = PARAM_STRINGS;
	*use = (struct ctype_use){.type = C_POINTER, .pointee = use->type, .param = param, .to = to};
}

bool conf_take_type(struct lexer *lexer, struct ctype_use *use)
{
	struct conf_type_words words = {0};

	if (!conf_type_take_words(lexer, &words))
		return false;
	if (words.others)
		*use = words.use;
	else
		*use = (struct ctype_use){.type = plain_type(&words), .param = plain_param(&words)};
	for (;;)
		/* References of C++ are passed like pointers. */
		if (lexer_take_sign(lexer, "*") || lexer_take_sign(lexer, "&"))
			make_pointer(use);
		else if (lexer_take_word(lexer, "const"))
			use->is_const = true;
		else if (!take_one_of(lexer, qualifiers, ARRAY_SIZE(qualifiers)))
			return !lexer->failed;
}

unsigned char conf_value_type(unsigned char ctype)
{
	static const unsigned char types[] = {[C_INT8] = TYPE_INT8,     [C_UINT8] = TYPE_UINT8, [C_INT16] = TYPE_INT16,
					      [C_UINT16] = TYPE_UINT16, [C_INT] = TYPE_INT,     [C_UINT] = TYPE_UINT};

	return ctype < ARRAY_SIZE(types) ? types[ctype] : TYPE_WORD;
}

/* ---- Prototypes ---- */

/* Skips all tokens up to and including the closing bracket that belongs to an opening bracket that was already read. */
static bool skip_to(struct lexer *lexer, const char *open, const char *close)
{
	unsigned depth = 1;

	while (depth && lexer->token.kind != TOKEN_END) {
		depth += lexer_is_sign(lexer, open);
		depth -= lexer_is_sign(lexer, close);
		lexer_next(lexer);
	}
	return !depth || lexer_error(lexer, "a '%s' without its '%s'", open, close);
}

/* Returns true if the token cannot be the name of parameter `index`, because it has another meaning in values:
 * `return`, or `arg3` for any parameter except the third. */
static bool is_reserved(const struct lexer *lexer, unsigned index)
{
	char numbered[16];

	snprintf(numbered, sizeof(numbered), "arg%u", index + 1);
	return lexer_is_word(lexer, "return") ||
	       (lexer->token.length == 4 && !memcmp(lexer->token.text, "arg", 3) &&
		isdigit((unsigned char)lexer->token.text[3]) && !lexer_is_word(lexer, numbered));
}

static bool name_param(struct lexer *lexer, struct conf_param *param, unsigned index)
{
	param->is_label = lexer->token.kind == TOKEN_STRING && lexer->token.length;
	if (lexer->token.kind != TOKEN_WORD && !param->is_label)
		return true;
	if (!param->is_label && (!conf_is_c_name(&lexer->token) || is_reserved(lexer, index)))
		return lexer_error(lexer, "%s is no name for parameter %u", lexer_shown(lexer), index + 1);
	param->name = (struct conf_name){lexer->token.text, lexer->token.length};
	lexer_next(lexer);
	return true;
}

/* Parses `void (*done)(void *)`, after the first type and the first bracket. */
static bool take_function_pointer(struct lexer *lexer, struct conf_param *param, unsigned index)
{
	param->use = (struct ctype_use){.type = C_POINTER, .pointee = C_UNKNOWN, .param = PARAM_FUNCTION};
	if (!lexer_take_sign(lexer, "*"))
		return lexer_error(lexer, "found %s where the '*' of a pointer to a function is expected",
				   lexer_shown(lexer));
	if (!name_param(lexer, param, index))
		return false;
	if (!lexer_take_sign(lexer, ")") || !lexer_take_sign(lexer, "("))
		return lexer_error(lexer, "a pointer to a function is written like void (*done)(void *), not with %s",
				   lexer_shown(lexer));
	return skip_to(lexer, "(", ")");
}

/* Handles `hex`: the number is shown in hexadecimal. Returns false if the type is neither an int nor a long. */
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

/* Parses a type and the preceding words that say how it is shown. is_result: NULL if the word `out` is not allowed. */
static bool take_shown_type(struct lexer *lexer, struct ctype_use *use, bool *is_result)
{
	bool is_hex = false;

	for (;;)
		if (is_result && lexer_take_word(lexer, "out"))
			*is_result = true;
		else if (lexer_take_word(lexer, "hex"))
			is_hex = true;
		else
			break;
	if (!conf_take_type(lexer, use))
		return false;
	return !is_hex || set_hex(use) ||
	       lexer_error(lexer, "'hex' needs the type of an int or a long, and this type is neither");
}

/* Sets how an output is shown when the function has returned. Returns false if the parameter cannot be an output. */
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

static bool take_brackets(struct lexer *lexer, struct conf_param *param)
{
	while (lexer_take_sign(lexer, "[")) {
		if (!conf_take_length(lexer, param))
			return false;
		const unsigned char sized = param->with.length ? param->use.param : PARAM_END;

		make_pointer(&param->use);
		if (sized)
			param->use.param = sized;
		if (!skip_to(lexer, "[", "]"))
			return false;
	}
	return true;
}

/* Parses a declaration: `const char *name`, `void (*done)(void *)`, `int pair[2]` */
static bool take_declared(struct lexer *lexer, struct conf_param *param, unsigned index)
{
	*param = (struct conf_param){.name = {"", 0}};
	if (!take_shown_type(lexer, &param->use, &param->is_result))
		return false;
	if (lexer_take_sign(lexer, "(") ? !take_function_pointer(lexer, param, index)
					: !name_param(lexer, param, index))
		return false;
	return take_brackets(lexer, param);
}

bool conf_take_shown_type(struct lexer *lexer, struct ctype_use *use)
{
	struct conf_param param;

	if (!take_declared(lexer, &param, 0))
		return false;
	*use = param.use;
	return (!param.name.length && !param.is_result && !param.with.length) ||
	       lexer_error(lexer, "a type without a name is expected here");
}

static bool take_param(struct lexer *lexer, struct prototype *prototype)
{
	if (prototype->param_count == CONF_PARAMS)
		return lexer_error(lexer, "the function has more than %d parameters; write only the first %d",
				   CONF_PARAMS, MODULE_ARGS);
	struct conf_param *const param = &prototype->params[prototype->param_count];
	const bool is_hidden = lexer_take_word(lexer, "hidden");

	if (!take_declared(lexer, param, prototype->param_count))
		return false;
	if (param->is_result && !set_filled(param))
		return lexer_error(lexer,
				   "'out' needs a pointer that the function fills, to a number, to a pointer or to a "
				   "string, and parameter %u is no such pointer",
				   prototype->param_count + 1);
	for (unsigned i = 0; i < prototype->param_count; i++)
		if (param->name.length && conf_is_same_name(&prototype->params[i].name, &param->name))
			return lexer_error(lexer, "two parameters are called '%.*s'", (int)param->name.length,
					   param->name.text);
	/* Only `(void)` is allowed. */
	if (param->use.type == C_VOID)
		return (!param->name.length && !prototype->param_count && lexer_is_sign(lexer, ")")) ||
		       lexer_error(lexer, "a parameter cannot be void");
	prototype->param_count++;
	if (!conf_take_condition(lexer, param))
		return false;
	if (is_hidden)
		*param = (struct conf_param){
			.name = param->name,
			.use = {.type = param->use.type, .pointee = param->use.pointee, .param = PARAM_NONE}};
	return true;
}

static bool take_params(struct lexer *lexer, struct prototype *prototype)
{
	if (!lexer_take_sign(lexer, "("))
		return lexer_error(lexer,
				   "found %s where the parameters in brackets are expected, as in void *get(size_t "
				   "size)",
				   lexer_shown(lexer));
	if (lexer_take_sign(lexer, ")"))
		return true;
	do {
		if (lexer_take_sign(lexer, "..."))
			break;
		if (!take_param(lexer, prototype))
			return false;
	} while (lexer_take_sign(lexer, ","));
	if (!lexer_take_sign(lexer, ")"))
		return lexer_error(lexer, "found %s where ',' or the ')' after the parameters is expected",
				   lexer_shown(lexer));
	return true;
}

static bool take_pattern(struct lexer *lexer, struct prototype *prototype)
{
	prototype->is_pattern = true;
	prototype->name = lexer->token.text;
	prototype->length = lexer->token.length;
	if (!prototype->length)
		return lexer_error(lexer, "the pattern is empty and matches no function");
	lexer_next(lexer);
	return true;
}

bool conf_take_prototype(struct lexer *lexer, struct prototype *prototype)
{
	const bool may_be_name = lexer->token.kind == TOKEN_WORD;
	const struct token first = lexer->token;

	*prototype = (struct prototype){.name = ""};
	if (lexer->token.kind == TOKEN_STRING)
		return take_pattern(lexer, prototype);
	if (!take_shown_type(lexer, &prototype->result, NULL))
		return false;
	if (prototype->result.cases)
		return lexer_error(lexer, "the type of a result cannot be a union, which depends on a parameter");
	prototype->has_result = true;
	if (lexer->token.kind == TOKEN_STRING)
		return take_pattern(lexer, prototype);
	if (may_be_name && prototype->result.type == C_UNKNOWN && lexer_is_sign(lexer, "("))
		return lexer_error(
			lexer,
			"the type of the result is missing: write it before '%.*s', as C does (void, int, void *)",
			(int)first.length, first.text);
	if (lexer->token.kind != TOKEN_WORD || memchr(lexer->token.text, '-', lexer->token.length) ||
	    isdigit((unsigned char)lexer->token.text[0]))
		return lexer_error(lexer,
				   "found %s where the function's name is expected; quote a pattern of C++ names",
				   lexer_shown(lexer));
	prototype->name = lexer->token.text;
	prototype->length = lexer->token.length;
	lexer_next(lexer);
	if (!take_params(lexer, prototype))
		return false;
	while (lexer_take_word(lexer, "__attribute__"))
		if (!lexer_take_sign(lexer, "(") || !skip_to(lexer, "(", ")"))
			return lexer_error(lexer, "an attribute is written __attribute__((NAME))");
	lexer_take_sign(lexer, ";");
	return !lexer->failed;
}
