/* The words of a description, one by one. */
#ifndef FT_MODULES_CONF_CONF_SCAN_H
#define FT_MODULES_CONF_CONF_SCAN_H

#include "modules/conf/conf.h"

enum token_kind {
	TOKEN_END, /* of the statement */
	TOKEN_WORD,
	TOKEN_NUMBER,
	TOKEN_STRING, /* text is what stands between the quotes */
	TOKEN_SIGN,
};

struct token {
	enum token_kind kind;
	const char *text; /* in the file; not NUL-terminated */
	size_t length;
	unsigned line;
	uint64_t number;
};

/* A file, and a place in one of its statements. */
struct scan {
	const char *path;
	const struct conf *conf; /* what is described above; NULL: nothing */
	const char *at, *end;    /* what is left of the statement, behind `token` */
	unsigned line;           /* of `at` */
	struct token token;      /* the one that is looked at */
	bool failed;             /* something is wrong with this statement: no token is left */
	unsigned errors;         /* in the file */
	struct buf *said;
};

/* Begins with a statement, whose first token is then looked at. */
void scan_begin(struct scan *scan, const char *text, const char *end, unsigned line);
void scan_next(struct scan *scan);
bool scan_is_sign(const struct scan *scan, const char *sign);
bool scan_is_word(const struct scan *scan, const char *word);
/* Goes on behind the sign or the word if it is that one. */
bool scan_take_sign(struct scan *scan, const char *sign);
bool scan_take_word(struct scan *scan, const char *word);
/* Takes a number as C writes it: 10, 010, 0x10, 1 << 4. False: an error was told. */
bool scan_take_number(struct scan *scan, uint64_t *number);
/* Says what is wrong, on the line of the token or another one; the statement has failed. Only the first error of a
 * statement is told. Returns false. */
bool scan_error(struct scan *scan, const char *fmt, ...) FT_PRINTF(2, 3);
bool scan_error_on(struct scan *scan, unsigned line, const char *fmt, ...) FT_PRINTF(3, 4);
/* The token that is looked at, for messages: printable and short. Static memory. */
const char *scan_shown(const struct scan *scan);

#endif
