/* Splits a description into tokens. */
#ifndef FT_MODULES_CONF_CONF_LEXER_H
#define FT_MODULES_CONF_CONF_LEXER_H

#include "modules/conf/conf.h"

enum token_kind {
	TOKEN_END, /* the statement's end */
	TOKEN_WORD,
	TOKEN_NUMBER,
	TOKEN_STRING, /* a quoted text; `text` excludes the quotes */
	TOKEN_SIGN,
};

struct token {
	enum token_kind kind;
	const char *text; /* pointer into the file's text; not NUL-terminated */
	size_t length;
	unsigned line;
	uint64_t number;
};

/* The tokenizer of a file, and its position in the current statement. */
struct lexer {
	const char *path;
	const struct conf *conf; /* contains the enums and unions that were read before; NULL: there are none */
	const char *at, *end;    /* the rest of the statement, which follows `token` */
	unsigned line;           /* line number of `at` */
	struct token token;      /* the current token */
	bool failed;             /* true if the statement has an error; then no more tokens follow */
	unsigned errors;         /* number of errors in the file */
	struct buf *said;
};

/* Begins a statement. The statement's first token becomes the current one. */
void lexer_begin(struct lexer *lexer, const char *text, const char *end, unsigned line);
/* Reads the next token. */
void lexer_next(struct lexer *lexer);
bool lexer_is_sign(const struct lexer *lexer, const char *sign);
bool lexer_is_word(const struct lexer *lexer, const char *word);
/* If the current token is this sign or word, read the next token and return true. */
bool lexer_take_sign(struct lexer *lexer, const char *sign);
bool lexer_take_word(struct lexer *lexer, const char *word);
/* Parses a number in C's syntax: 10, 010, 0x10, 1 << 4. Returns false after an error. */
bool lexer_take_number(struct lexer *lexer, uint64_t *number);
/* Report an error on the line of the current token, or on another line, and end the statement. Only the first error of
 * a statement is reported. Return false. */
bool lexer_error(struct lexer *lexer, const char *fmt, ...) FT_PRINTF(2, 3);
bool lexer_error_on(struct lexer *lexer, unsigned line, const char *fmt, ...) FT_PRINTF(3, 4);
/* Returns the current token as printable, short text for messages. The text is in static memory. */
const char *lexer_shown(const struct lexer *lexer);

#endif
