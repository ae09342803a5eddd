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

bool scan_error_on(struct scan *scan, unsigned line, const char *fmt, ...)
{
	va_list args;
	char text[1000];

	if (scan->failed)
		return false;
	scan->failed = true;
	scan->token.kind = TOKEN_END;
	scan->at = scan->end;
	scan->errors++;
	if (scan->errors > ERRORS_MAX)
		return false;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	buf_printf(scan->said, "%s%s:%u: %s", scan->said->size ? "\n" : "", scan->path, line, text);
	if (scan->errors == ERRORS_MAX)
		buf_printf(scan->said, "\n%s: no more than %d errors are shown", scan->path, ERRORS_MAX);
	return false;
}

bool scan_error(struct scan *scan, const char *fmt, ...)
{
	va_list args;
	char text[1000];

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return scan_error_on(scan, scan->token.line, "%s", text);
}

const char *scan_shown(const struct scan *scan)
{
	static char shown[4 * SHOWN_MAX + 16];
	const struct token *token = &scan->token;
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
static void skip_blanks(struct scan *scan)
{
	while (scan->at < scan->end) {
		const char c = *scan->at;

		if (c == '#') {
			while (scan->at < scan->end && *scan->at != '\n')
				scan->at++;
			continue;
		}
		if (c != ' ' && c != '\t' && c != '\r' && c != '\n')
			return;
		scan->line += c == '\n';
		scan->at++;
	}
}

static void conf_scan_take_string(struct scan *scan, struct token *token)
{
	const char *at = token->text + 1;

	while (at < scan->end && *at != '"' && *at != '\n' && *at != '\r') {
		if ((unsigned char)*at < ' ' || *at == 0x7f) {
			scan_error(scan, "the byte 0x%02x is no part of a text", (unsigned char)*at);
			return;
		}
		at++;
	}
	if (at == scan->end || *at != '"') {
		scan_error(scan, "a text without its end: close it by a \" on the same line");
		return;
	}
	token->kind = TOKEN_STRING;
	token->text++;
	token->length = (size_t)(at - token->text);
	scan->at = at + 1;
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

static void conf_scan_take_word(struct scan *scan, struct token *token)
{
	const char *at = token->text + 1;

	while (at < scan->end && is_word_byte(*at))
		at++;
	token->length = (size_t)(at - token->text);
	scan->at = at;
	if (!isdigit((unsigned char)*token->text) && *token->text != '-')
		token->kind = TOKEN_WORD;
	else if (conf_scan_parse_digits(token->text, token->length, &token->number))
		token->kind = TOKEN_NUMBER;
	else
		token->kind = TOKEN_WORD;
}

static void take_sign(struct scan *scan, struct token *token)
{
	static const char *const signs[] = {"...", "==", "!=", "<=", "<<", "!&", "(", ")", "[", "]", "{",
					    "}",   "*",  "&",  ",",  ":",  "=",  ";", "<", ">", "+"};
	const size_t left = (size_t)(scan->end - scan->at);

	token->kind = TOKEN_SIGN;
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++) {
		token->length = strlen(signs[i]);
		if (token->length <= left && !memcmp(signs[i], scan->at, token->length)) {
			scan->at += token->length;
			return;
		}
	}
	token->length = 1;
	scan_error(scan, "%s has no meaning here; quote a text that has more than letters, digits, '_', '.' and '-'",
		   scan_shown(scan));
}

void scan_next(struct scan *scan)
{
	struct token *token = &scan->token;

	if (scan->failed)
		return;
	skip_blanks(scan);
	if (scan->at == scan->end) {
		/* An error at the end of the statement is reported on the line of the last token. */
		token->kind = TOKEN_END;
		return;
	}
	*token = (struct token){.text = scan->at, .length = 1, .line = scan->line};
	const char c = *scan->at, next = scan->at + 1 < scan->end ? scan->at[1] : ' ';

	if (c == '"')
		conf_scan_take_string(scan, token);
	else if ((is_word_byte(c) && c != '-' && c != '.') || (c == '-' && isdigit((unsigned char)next)))
		conf_scan_take_word(scan, token);
	else
		take_sign(scan, token);
}

void scan_begin(struct scan *scan, const char *text, const char *end, unsigned line)
{
	scan->at = text;
	scan->end = end;
	scan->line = line;
	scan->failed = false;
	scan->token = (struct token){.line = line};
	scan_next(scan);
}

static bool is_token(const struct scan *scan, enum token_kind kind, const char *text)
{
	const struct token *const token = &scan->token;

	/* Each token is compared with some fifty words; the first byte rules most of them out. */
	return token->kind == kind && token->text[0] == text[0] && token->length == strlen(text) &&
	       !memcmp(token->text, text, token->length);
}

bool scan_is_sign(const struct scan *scan, const char *sign)
{
	return is_token(scan, TOKEN_SIGN, sign);
}

bool scan_is_word(const struct scan *scan, const char *word)
{
	return is_token(scan, TOKEN_WORD, word);
}

bool scan_take_sign(struct scan *scan, const char *sign)
{
	const bool is_it = scan_is_sign(scan, sign);

	if (is_it)
		scan_next(scan);
	return is_it;
}

bool scan_take_word(struct scan *scan, const char *word)
{
	const bool is_it = scan_is_word(scan, word);

	if (is_it)
		scan_next(scan);
	return is_it;
}

/* Takes a number as C writes it: after a 0 it is octal. */
static bool take_plain_number(struct scan *scan, uint64_t *number)
{
	const struct token token = scan->token;

	if (token.kind != TOKEN_NUMBER)
		return scan_error(scan, "found %s where a number is expected", scan_shown(scan));
	*number = token.number;
	if (token.length > 1 && token.text[0] == '0' && (token.text[1] | 0x20) != 'x') {
		*number = 0;
		for (size_t i = 1; i < token.length; i++) {
			if (token.text[i] > '7' || *number >> 61)
				return scan_error(scan, "%s is no octal number", scan_shown(scan));
			*number = *number << 3 | (uint64_t)(token.text[i] - '0');
		}
	}
	scan_next(scan);
	return true;
}

bool scan_take_number(struct scan *scan, uint64_t *number)
{
	uint64_t shift;

	if (!take_plain_number(scan, number))
		return false;
	if (!scan_take_sign(scan, "<<"))
		return true;
	if (!take_plain_number(scan, &shift))
		return false;
	if (shift > 63)
		return scan_error(scan, "a number can be shifted by 0 to 63 bits");
	*number <<= shift;
	return true;
}
