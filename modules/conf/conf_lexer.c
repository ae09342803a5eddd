#include "config.h"
#include "modules/conf/conf_parse.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ERRORS_MAX 20
#define SHOWN_MAX  40

static bool is_word_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-' || c == '$';
}

bool lexer_error_on(struct lexer *lexer, unsigned line, const char *fmt, ...)
{
	va_list args;
	char text[1000];

	if (lexer->failed)
		return false;
	lexer->failed = true;
	lexer->token.kind = TOKEN_END;
	lexer->at = lexer->end;
	lexer->errors++;
	if (lexer->errors > ERRORS_MAX)
		return false;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	buf_printf(lexer->said, "%s%s:%u: %s", lexer->said->size ? "\n" : "", lexer->path, line, text);
	if (lexer->errors == ERRORS_MAX)
		buf_printf(lexer->said, "\n%s: no more than %d errors are shown", lexer->path, ERRORS_MAX);
	return false;
}

bool lexer_error(struct lexer *lexer, const char *fmt, ...)
{
	va_list args;
	char text[1000];

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return lexer_error_on(lexer, lexer->token.line, "%s", text);
}

const char *lexer_shown(const struct lexer *lexer)
{
	static char shown[4 * SHOWN_MAX + 16];
	const struct token *token = &lexer->token;
	size_t used = 0;

	if (token->kind == TOKEN_END)
		return "the end of the line";
	shown[used++] = '\'';
	for (size_t i = 0; i < token->length && i < SHOWN_MAX; i++) {
		const unsigned char c = (unsigned char)token->text[i];

		if (isprint(c))
			shown[used++] = (char)c;
		else
			used += (size_t)snprintf(shown + used, sizeof(shown) - used, "\\x%02x", c);
	}
	strcpy(shown + used, token->length > SHOWN_MAX ? "...'" : "'");
	return shown;
}

/* Skips blanks, line ends and comments. */
static void skip_blanks(struct lexer *lexer)
{
	while (lexer->at < lexer->end) {
		const char c = *lexer->at;

		if (c == '#') {
			while (lexer->at < lexer->end && *lexer->at != '\n')
				lexer->at++;
			continue;
		}
		if (c != ' ' && c != '\t' && c != '\r' && c != '\n')
			return;
		lexer->line += c == '\n';
		lexer->at++;
	}
}

static void conf_lexer_take_string(struct lexer *lexer, struct token *token)
{
	const char *at = token->text + 1;

	while (at < lexer->end && *at != '"' && *at != '\n' && *at != '\r') {
		if ((unsigned char)*at < ' ' || *at == 0x7f) {
			lexer_error(lexer, "the byte 0x%02x is no part of a text", (unsigned char)*at);
			return;
		}
		at++;
	}
	if (at == lexer->end || *at != '"') {
		lexer_error(lexer, "a text without its end: close it by a \" on the same line");
		return;
	}
	token->kind = TOKEN_STRING;
	token->text++;
	token->length = (size_t)(at - token->text);
	lexer->at = at + 1;
}

static bool conf_scan_parse_digits(const char *text, size_t length, uint64_t *number)
{
	const bool is_negative = *text == '-';
	char digits[24];

	text += is_negative, length -= is_negative;
	if (length >= sizeof(digits))
		return false;
	memcpy(digits, text, length);
	digits[length] = '\0';
	if (!parse_number(digits, UINT64_MAX, number))
		return false;
	*number = is_negative ? -*number : *number;
	return true;
}

static void conf_lexer_take_word(struct lexer *lexer, struct token *token)
{
	const char *at = token->text + 1;

	while (at < lexer->end && is_word_byte(*at))
		at++;
	token->length = (size_t)(at - token->text);
	lexer->at = at;
	if (!isdigit((unsigned char)*token->text) && *token->text != '-')
		token->kind = TOKEN_WORD;
	else if (conf_scan_parse_digits(token->text, token->length, &token->number))
		token->kind = TOKEN_NUMBER;
	else
		token->kind = TOKEN_WORD;
}

static void take_sign(struct lexer *lexer, struct token *token)
{
	static const char *const signs[] = {"...", "==", "!=", "<=", "<<", "!&", "(", ")", "[", "]", "{",
					    "}",   "*",  "&",  ",",  ":",  "=",  ";", "<", ">", "+"};
	const size_t left = (size_t)(lexer->end - lexer->at);

	token->kind = TOKEN_SIGN;
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++) {
		token->length = strlen(signs[i]);
		if (token->length <= left && !memcmp(signs[i], lexer->at, token->length)) {
			lexer->at += token->length;
			return;
		}
	}
	token->length = 1;
	lexer_error(lexer, "%s has no meaning here; quote a text that has more than letters, digits, '_', '.' and '-'",
		    lexer_shown(lexer));
}

void lexer_next(struct lexer *lexer)
{
	struct token *token = &lexer->token;

	if (lexer->failed)
		return;
	skip_blanks(lexer);
	if (lexer->at == lexer->end) {
		/* The token keeps its line, so that an error at the end of the statement is reported on the line of
		 * the last token. */
		token->kind = TOKEN_END;
		return;
	}
	*token = (struct token){.text = lexer->at, .length = 1, .line = lexer->line};
	const char c = *lexer->at, next = lexer->at + 1 < lexer->end ? lexer->at[1] : ' ';

	if (c == '"')
		conf_lexer_take_string(lexer, token);
	else if ((is_word_byte(c) && c != '-' && c != '.') || (c == '-' && isdigit((unsigned char)next)))
		conf_lexer_take_word(lexer, token);
	else
		take_sign(lexer, token);
}

void lexer_begin(struct lexer *lexer, const char *text, const char *end, unsigned line)
{
	lexer->at = text;
	lexer->end = end;
	lexer->line = line;
	lexer->failed = false;
	lexer->token = (struct token){.line = line};
	lexer_next(lexer);
}

static bool is_token(const struct lexer *lexer, enum token_kind kind, const char *text)
{
	const struct token *const token = &lexer->token;

	/* Compares the first bytes first, because each token is compared with about fifty words, most of which differ
	 * there. */
	return token->kind == kind && token->text[0] == text[0] && token->length == strlen(text) &&
	       !memcmp(token->text, text, token->length);
}

bool lexer_is_sign(const struct lexer *lexer, const char *sign)
{
	return is_token(lexer, TOKEN_SIGN, sign);
}

bool lexer_is_word(const struct lexer *lexer, const char *word)
{
	return is_token(lexer, TOKEN_WORD, word);
}

bool lexer_take_sign(struct lexer *lexer, const char *sign)
{
	const bool is_it = lexer_is_sign(lexer, sign);

	if (is_it)
		lexer_next(lexer);
	return is_it;
}

bool lexer_take_word(struct lexer *lexer, const char *word)
{
	const bool is_it = lexer_is_word(lexer, word);

	if (is_it)
		lexer_next(lexer);
	return is_it;
}

/* Parses a number as in C: with a leading 0 it is octal. */
static bool take_plain_number(struct lexer *lexer, uint64_t *number)
{
	const struct token token = lexer->token;

	if (token.kind != TOKEN_NUMBER)
		return lexer_error(lexer, "found %s where a number is expected", lexer_shown(lexer));
	*number = token.number;
	if (token.length > 1 && token.text[0] == '0' && (token.text[1] | 0x20) != 'x') {
		*number = 0;
		for (size_t i = 1; i < token.length; i++) {
			if (token.text[i] > '7' || *number >> 61)
				return lexer_error(lexer, "%s is no octal number", lexer_shown(lexer));
			*number = *number << 3 | (uint64_t)(token.text[i] - '0');
		}
	}
	lexer_next(lexer);
	return true;
}

bool lexer_take_number(struct lexer *lexer, uint64_t *number)
{
	uint64_t shift;

	if (!take_plain_number(lexer, number))
		return false;
	if (!lexer_take_sign(lexer, "<<"))
		return true;
	if (!take_plain_number(lexer, &shift))
		return false;
	if (shift > 63)
		return lexer_error(lexer, "a number can be shifted by 0 to 63 bits");
	*number <<= shift;
	return true;
}
