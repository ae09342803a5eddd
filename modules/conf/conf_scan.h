/* Splits a description into tokens. */
#ifndef FT_MODULES_CONF_CONF_SCAN_H
#define FT_MODULES_CONF_CONF_SCAN_H

#include "modules/conf/conf.h"

enum token_kind {
	TOKEN_END, /* end of the statement */
	TOKEN_WORD,
	TOKEN_NUMBER,
	TOKEN_STRING, /* `text` is without the quotes */
	TOKEN_SIGN,
};

struct token {
	enum token_kind kind;
	const char *text; /* in the file; not NUL-terminated */
	size_t length;
	unsigned line;
	uint64_t number;
};

/* A file, and the current place in one of its statements. */
struct scan {
	const char *path;
	const struct conf *conf; /* earlier descriptions in the file; NULL none */
	const char *at, *end;    /* the rest of the statement, after `token` */
	unsigned line;           /* the line of `at` */
	struct token token;      /* the current token */
	bool failed;             /* the statement has an error, and no tokens are left */
	unsigned errors;         /* in the file */
	struct buf *said;
};

/* Begins a statement; its first token becomes the current one. */
void scan_begin(struct scan *scan, const char *text, const char *end, unsigned line);
/* Goes on to the next token. */
void scan_next(struct scan *scan);
bool scan_is_sign(const struct scan *scan, const char *sign);
bool scan_is_word(const struct scan *scan, const char *word);
/* If the current token is this sign or word, go on to the next token and return true. */
bool scan_take_sign(struct scan *scan, const char *sign);
bool scan_take_word(struct scan *scan, const char *word);
/* Takes a number in C's syntax: 10, 010, 0x10, 1 << 4. Returns false after an error. */
bool scan_take_number(struct scan *scan, uint64_t *number);
/* Report an error on the line of the current token, or on another line, and end the statement. Only the first error
 * of a statement is reported. Return false. */
bool scan_error(struct scan *scan, const char *fmt, ...) FT_PRINTF(2, 3);
bool scan_error_on(struct scan *scan, unsigned line, const char *fmt, ...) FT_PRINTF(3, 4);
/* Returns the current token for messages: printable and short. Static memory. */
const char *scan_shown(const struct scan *scan);

#endif
