#include "config.h"
#include "modules/conf_write_types.h"
#include "modules/known.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE_WIDTH 110

void conf_write_number(struct buf *text, uint64_t number)
{
	if (number > INT64_MAX)
		buf_printf(text, "-%" PRIu64, -number);
	else if (number > 99999)
		buf_printf(text, "0x%" PRIx64, number);
	else
		buf_printf(text, "%" PRIu64, number);
}

/* ---- Tables of words ---- */

static bool is_flags(const struct param *param)
{
	return param->type == PARAM_FLAGS || param->type == PARAM_FLAGS_MODE;
}

/* What a description can have words for. */
static bool has_words(const struct param *param)
{
	return param->words && (is_flags(param) || param->type == PARAM_INT || param->type == PARAM_WORD);
}

static const char *words_name(const struct word_names *names, const struct param *param)
{
	for (size_t i = 0; has_words(param) && i < names->count; i++)
		if (names->tables[i].words == param->words)
			return names->tables[i].name;
	return NULL;
}

static bool is_taken(const struct word_names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(names->tables[i].name, name))
			return true;
	return false;
}

static bool is_plain_word(const char *name)
{
	if (isdigit((unsigned char)*name))
		return false;
	while (isalnum((unsigned char)*name) || *name == '_')
		name++;
	return !*name;
}

/* Bits are seen in hexadecimal numbers. */
static void add_word_number(struct buf *text, bool is_hex, uint64_t number)
{
	if (is_hex && number > 9)
		buf_printf(text, "0x%" PRIx64, number);
	else
		conf_write_number(text, number);
}

static void add_word(const struct param_word *word, bool is_hex, struct buf *text)
{
	const char *processor;

	buf_printf(text, is_plain_word(word->name) ? "%s = " : "\"%s\" = ", word->name);
	add_word_number(text, is_hex, word->value);
	if (word->mask) {
		buf_add_str(text, " of ");
		add_word_number(text, is_hex, word->mask);
	}
	if (word->on)
		buf_add_str(text, " on");
	for (unsigned bit = 0; (processor = module_processor(bit)); bit++)
		if (word->on >> bit & 1)
			buf_printf(text, " %s", processor);
}

static void add_words(struct word_names *names, const struct param *param, struct buf *text)
{
	size_t line;

	if (!has_words(param) || words_name(names, param) || names->count == WORD_TABLES)
		return;
	char *const name = names->tables[names->count].name;

	snprintf(name, WORD_NAME, "%.40s_words", param->name);
	for (unsigned i = 2; is_taken(names, name); i++)
		snprintf(name, WORD_NAME, "%.40s_words%u", param->name, i);
	names->tables[names->count++].words = param->words;
	buf_printf(text, "%s %s {\n\t", is_flags(param) ? "flags" : "enum", name);
	line = text->size;
	for (const struct param_word *word = param->words; word->name; word++) {
		if (text->size - line > LINE_WIDTH - 40) {
			buf_add_str(text, "\n\t");
			line = text->size;
		} else if (word != param->words) {
			buf_add_char(text, ' ');
		}
		add_word(word, is_flags(param), text);
		if (word[1].name)
			buf_add_char(text, ',');
	}
	buf_add_str(text, "\n}\n");
}

void conf_write_words(const struct module *module, struct word_names *names, struct buf *text)
{
	names->count = 0;
	for (size_t i = 0; i < module->function_count; i++) {
		const struct function *const f = &module->functions[i];

		if (f->is_pattern)
			continue;
		for (size_t n = 0; n < FUNCTION_PARAMS && f->params[n].type; n++)
			add_words(names, &f->params[n], text);
		add_words(names, &f->returns, text);
	}
}

/* ---- Types ---- */

void conf_write_param(const struct word_names *names, const struct param *param, const char *name, struct buf *text)
{
	static const char *const types[PARAM_NONE + 1] = {
		[PARAM_SIZE] = "size_t ",
		[PARAM_INT] = "int ",
		[PARAM_UINT] = "unsigned ",
		[PARAM_HEX] = "hex unsigned ",
		[PARAM_STRING] = "const char *",
		[PARAM_LONG] = "long ",
		[PARAM_INT64] = "int64_t ",
		[PARAM_UINT64] = "uint64_t ",
		[PARAM_OCTAL] = "mode_t ",
		[PARAM_WIDE] = "const wchar_t *",
		[PARAM_WORD] = "hex int ",
		[PARAM_FLAGS] = "hex int ",
		[PARAM_SOCKADDR] = "struct sockaddr *",
		[PARAM_INDIRECT] = "void **",
		[PARAM_BOOL] = "bool ",
		[PARAM_DOUBLE] = "double ",
		[PARAM_FLOAT] = "float ",
		[PARAM_INT8] = "signed char ",
		[PARAM_UINT8] = "unsigned char ",
		[PARAM_INT16] = "short ",
		[PARAM_UINT16] = "unsigned short ",
		[PARAM_CHAR] = "char ",
		[PARAM_WCHAR] = "wchar_t ",
		[PARAM_HEX_LONG] = "hex size_t ",
		[PARAM_FLAGS_MODE] = "hex int ",
		[PARAM_ERROR] = "error_t ",
		[PARAM_STRINGS] = "char *const *",
		[PARAM_STRING_N] = "const char *",
		[PARAM_WIDE_N] = "const wchar_t *",
	};
	const char *const described = words_name(names, param);

	if (param->is_result)
		buf_add_str(text, "out ");
	if (described)
		buf_printf(text, "%s %s", described, name);
	else if (param->type == PARAM_INTS)
		buf_printf(text, "int %s[%" PRIu64 "]", name, param->needs);
	else if (param->type == PARAM_FUNCTION && strcmp(param->name, "return"))
		buf_printf(text, "void (*%s)(void)", name);
	else
		buf_printf(text, "%s%s", types[param->type] ? types[param->type] : "void *", name);
}

unsigned conf_param_type(const struct param *param)
{
	switch (param->type) {
	case PARAM_INT:
	case PARAM_WORD:
	case PARAM_FLAGS:
	case PARAM_FLAGS_MODE:
	case PARAM_ERROR:
	case PARAM_WCHAR:
		return TYPE_INT;
	case PARAM_UINT:
	case PARAM_HEX:
	case PARAM_OCTAL:
		return TYPE_UINT;
	case PARAM_INT8:
	case PARAM_CHAR:
		return TYPE_INT8;
	case PARAM_UINT8:
	case PARAM_BOOL:
		return TYPE_UINT8;
	case PARAM_INT16:
		return TYPE_INT16;
	case PARAM_UINT16:
		return TYPE_UINT16;
	default:
		return TYPE_WORD;
	}
}

int conf_param_pointee(const struct param *param)
{
	switch (param->type) {
	case PARAM_INTS:
	case PARAM_WIDE:
		return TYPE_INT;
	case PARAM_INDIRECT:
		return TYPE_WORD;
	case PARAM_STRING:
		return TYPE_INT8;
	default:
		return -1;
	}
}
