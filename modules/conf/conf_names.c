#include "config.h"
#include "modules/conf/conf_parse.h"
#include "modules/check.h"

#include <ctype.h>
#include <string.h>

#define TEXT_MAX_BYTES 200 /* maximum length in bytes of a text that functrace prints */

/* Functions that parse names and texts, and store copies of them in the conf. */

const char *conf_keep(struct conf *conf, const char *text, size_t length)
{
	ARRAY_GROW(conf->strings, conf->string_capacity, conf->string_count);
	return conf->strings[conf->string_count++] = xstrndup(text, length);
}

int conf_resource(const struct conf *conf, const char *type, size_t length)
{
	for (size_t i = 0; i < conf->resource_count; i++)
		if (strlen(conf->resources[i].type) == length && !memcmp(conf->resources[i].type, type, length))
			return (int)i;
	return -1;
}

const char *conf_take_name(struct conf *conf, struct lexer *lexer, const char *what)
{
	const struct token token = lexer->token;
	const bool is_word = token.kind == TOKEN_WORD || token.kind == TOKEN_NUMBER || token.kind == TOKEN_STRING;
	const char *const name = is_word ? conf_keep(conf, token.text, token.length) : "";

	if (!module_is_name(name)) {
		lexer_error(lexer, "%s is no %s, which has at most %d letters, digits, '_', '.' and '-'",
			    lexer_shown(lexer), what, MODULE_NAME_MAX);
		return NULL;
	}
	lexer_next(lexer);
	return name;
}

const char *conf_take_text(struct conf *conf, struct lexer *lexer, const char *what)
{
	const struct token token = lexer->token;

	if ((token.kind != TOKEN_WORD && token.kind != TOKEN_STRING) || !token.length ||
	    token.length > TEXT_MAX_BYTES) {
		lexer_error(lexer, "found %s where %s is expected: a word, or a text in \"\", of at most %d bytes",
			    lexer_shown(lexer), what, TEXT_MAX_BYTES);
		return NULL;
	}
	lexer_next(lexer);
	return conf_keep(conf, token.text, token.length);
}

bool conf_is_same_name(const struct conf_name *a, const struct conf_name *b)
{
	return a->length == b->length && !memcmp(a->text, b->text, a->length);
}

bool conf_is_c_name(const struct token *token)
{
	for (size_t i = 0; i < token->length; i++)
		if (!isalnum((unsigned char)token->text[i]) && token->text[i] != '_')
			return false;
	return token->kind == TOKEN_WORD && !isdigit((unsigned char)token->text[0]);
}

const struct conf_words *conf_words_find(const struct conf *conf, const char *name, size_t length)
{
	const struct conf_name wanted = {name, length};

	for (size_t i = 0; i < conf->words_count; i++)
		if (conf_is_same_name(&conf->words[i].name, &wanted))
			return &conf->words[i];
	return NULL;
}
