/* Declarations that the files which read a description share: the contents that were read so far, and the parts of
 * the reader. */
#ifndef FT_MODULES_CONF_CONF_PARSE_H
#define FT_MODULES_CONF_CONF_PARSE_H

#include "modules/conf/conf_lexer.h"

/* How a C type is passed, and read if a pointer points to it. */
enum ctype {
	C_VOID,
	C_INT8,
	C_UINT8,
	C_INT16,
	C_UINT16,
	C_INT,
	C_UINT,
	C_WORD,  /* signed, of a pointer's size */
	C_UWORD, /* unsigned, of a pointer's size */
	C_POINTER,
	C_WIDE,    /* 8 bytes in programs for any processor */
	C_FLOAT,   /* passed in other registers */
	C_STRUCT,  /* a struct by value */
	C_UNKNOWN, /* a name that only the program's headers define */
};

struct ctype_use {
	unsigned char type;             /* enum ctype */
	unsigned char pointee;          /* enum ctype, of what a pointer points to; C_UNKNOWN: it cannot be read */
	unsigned char param;            /* enum param_type, for -a; PARAM_END: it cannot be shown */
	unsigned char to;               /* enum param_type, of what a pointer points to */
	bool is_const;                  /* the type itself is const, not what it points to */
	const struct param_word *words; /* if the type is an enum or flags in the file */
	const struct param_case *cases; /* if the type is a union in the file */
};

#define CONF_PARAMS 32

/* A name in the file; length 0: none. */
struct conf_name {
	const char *text;
	size_t length;
};

struct conf_param {
	struct conf_name name;
	bool is_label; /* a quoted name, which is only shown; values cannot use it */
	struct ctype_use use;
	bool is_result;               /* marked by the word `out` */
	uint64_t count;               /* length of an array; 0: none, or unknown */
	struct conf_name with, times; /* parameters on which it depends */
	uint64_t needs;               /* shown only if `with` has one of these bits; 0: always */
};

/* A function's prototype. */
struct prototype {
	struct ctype_use result;
	bool has_result; /* false: a pattern without a type of its result */
	const char *name;
	size_t length;
	struct conf_param params[CONF_PARAMS];
	unsigned param_count;
	bool is_pattern; /* a quoted pattern, whose parameters are unknown */
};

/* A described enum, flags or union. */
struct conf_words {
	struct conf_name name;
	struct ctype_use use; /* for parameters of this type */
	struct param_word *words;
	struct param_case *cases;
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
	size_t glob_count; /* rows with wildcards */
	struct function *functions;
	const char **prefixes;
	size_t prefix_count, prefix_capacity;
	struct conf_words *words;
	size_t words_count, words_capacity;
	char **strings; /* all copies of names and texts */
	size_t string_count, string_capacity;
};

/* conf_names.c: returns a copy of a text, which lives as long as the conf. */
const char *conf_keep(struct conf *conf, const char *text, size_t length);
/* Returns the index of the resource of that type, or -1. */
int conf_resource(const struct conf *conf, const char *type, size_t length);
/* Takes a name of letters, digits, '_', '.' and '-', as traces have them. what: the thing that it names, for
 * messages. Returns NULL after an error. */
const char *conf_take_name(struct conf *conf, struct lexer *lexer, const char *what);
/* Whether the token is a valid name in C. */
bool conf_is_c_name(const struct token *token);
/* Returns the enum, flags or union of that name, or NULL. */
const struct conf_words *conf_words_find(const struct conf *conf, const char *name, size_t length);
bool conf_is_same_name(const struct conf_name *a, const struct conf_name *b);
/* Takes a string or a word, as a text for people. Returns NULL after an error. */
const char *conf_take_text(struct conf *conf, struct lexer *lexer, const char *what);

/* ---- Parts of the reader: they return false after an error ---- */

/* conf_type.c: a type with its stars; a type as parameters have it (`hex int`, `void (*)(int)`), without a name; a
 * prototype, from the type of its result on. */
bool conf_take_type(struct lexer *lexer, struct ctype_use *use);
bool conf_take_shown_type(struct lexer *lexer, struct ctype_use *use);
bool conf_take_prototype(struct lexer *lexer, struct prototype *prototype);
/* Returns the enum value_type for an enum ctype; TYPE_WORD for others. */
unsigned char conf_value_type(unsigned char ctype);

/* conf_words.c: the description of an enum, flags or a union, after its first word. */
bool conf_take_words(struct conf *conf, struct lexer *lexer, bool is_flags);
bool conf_take_union(struct conf *conf, struct lexer *lexer);

/* conf_param.c: the length in an array's brackets, and the words after a parameter's name (`if flags has 0100`, `by
 * cmd`). */
bool conf_take_length(struct lexer *lexer, struct conf_param *param);
bool conf_take_condition(struct lexer *lexer, struct conf_param *param);
/* Sets the function's parameters and result for -a. */
bool conf_set_params(struct conf *conf, struct lexer *lexer, const struct prototype *prototype,
		     struct function *function);

/* conf_value.c: a value; up to `max` conditions. */
bool conf_take_value(struct conf *conf, struct lexer *lexer, const struct prototype *prototype, struct value *value);
bool conf_take_conditions(struct conf *conf, struct lexer *lexer, const struct prototype *prototype,
			  struct condition *conditions, size_t max);

/* conf_row.c: a row, after the word for its role. */
bool conf_take_row(struct conf *conf, struct lexer *lexer, unsigned role, unsigned line);

#endif
