/* What the files that read a description have in common: its words one by one, and what has been understood. */
#ifndef FT_MODULES_CONF_PARSE_H
#define FT_MODULES_CONF_PARSE_H

#include "modules/conf.h"

/* ---- Words (conf_scan.c) ---- */

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
	const char *at, *end; /* what is left of the statement, behind `token` */
	unsigned line;        /* of `at` */
	struct token token;   /* the one that is looked at */
	bool failed;          /* something is wrong with this statement: no token is left */
	unsigned errors;      /* in the file */
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
/* Says what is wrong, on the line of the token or another one; the statement has failed. Only the first error of a
 * statement is told. Returns false. */
bool scan_error(struct scan *scan, const char *fmt, ...) FT_PRINTF(2, 3);
bool scan_error_on(struct scan *scan, unsigned line, const char *fmt, ...) FT_PRINTF(3, 4);
/* The token that is looked at, for messages: printable and short. Static memory. */
const char *scan_shown(const struct scan *scan);

/* ---- What has been understood ---- */

/* How a C type is passed, and read where a pointer leads to it. */
enum ctype {
	C_VOID,
	C_INT8,
	C_UINT8,
	C_INT16,
	C_UINT16,
	C_INT,
	C_UINT,
	C_WORD,  /* signed, as wide as a pointer */
	C_UWORD, /* unsigned */
	C_POINTER,
	C_WIDE,    /* 8 bytes in any program */
	C_FLOAT,   /* is passed in other registers */
	C_STRUCT,  /* by value */
	C_UNKNOWN, /* a name that only the program's headers know */
};

struct ctype_use {
	unsigned char type;    /* enum ctype */
	unsigned char pointee; /* of a pointer; C_UNKNOWN: cannot be read */
	bool is_string;        /* char * */
	bool is_size;          /* size_t and its like */
};

#define CONF_PARAMS 32

struct conf_param {
	const char *name; /* in the file; length 0: it has none */
	size_t length;
	struct ctype_use use;
};

/* A function as its prototype declares it. */
struct prototype {
	struct ctype_use result;
	bool has_result; /* a pattern may say nothing of it */
	const char *name;
	size_t length;
	struct conf_param params[CONF_PARAMS];
	unsigned param_count;
	bool is_pattern; /* a quoted one: nothing is known of its parameters */
};

struct conf_row {
	struct function function;
	unsigned line;
	bool has_resource, has_size;
};

struct conf {
	struct module module;
	struct resource *resources;
	size_t resource_count, resource_capacity;
	struct conf_row *rows;
	size_t row_count, row_capacity;
	size_t glob_count; /* of rows that are patterns with wildcards */
	struct function *functions;
	const char **prefixes;
	size_t prefix_count, prefix_capacity;
	char **strings; /* all names */
	size_t string_count, string_capacity;
};

/* conf_names.c: a copy that lives as long as the conf. */
const char *conf_keep(struct conf *conf, const char *text, size_t length);
/* The index of the resource of that type, or -1. */
int conf_resource(const struct conf *conf, const char *type, size_t length);
/* Takes a name of letters, digits, '_', '.' and '-', as traces have them; what: of what. NULL: an error was told. */
const char *conf_take_name(struct conf *conf, struct scan *scan, const char *what);
/* Takes a string or a word as text that people read; NULL: an error was told. */
const char *conf_take_text(struct conf *conf, struct scan *scan, const char *what);

/* ---- Its parts: false where an error was told ---- */

/* conf_type.c: a type with its stars, and what a program's prototype says from its result's type on. */
bool conf_take_type(struct scan *scan, struct ctype_use *use);
bool conf_take_prototype(struct scan *scan, struct prototype *prototype);
/* The value_type of module.h; what has none is TYPE_WORD. */
unsigned char conf_value_type(unsigned char ctype);

/* conf_value.c */
bool conf_take_value(struct conf *conf, struct scan *scan, const struct prototype *prototype, struct value *value);
bool conf_take_conditions(struct conf *conf, struct scan *scan, const struct prototype *prototype,
			  struct condition *conditions, size_t max);

/* conf_row.c: a row, behind the word that says its role. */
bool conf_take_row(struct conf *conf, struct scan *scan, unsigned role, unsigned line);

#endif
