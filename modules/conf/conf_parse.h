/* What the files that read a description have in common: what has been understood. */
#ifndef FT_MODULES_CONF_CONF_PARSE_H
#define FT_MODULES_CONF_CONF_PARSE_H

#include "modules/conf/conf_scan.h"

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
	unsigned char type;             /* enum ctype */
	unsigned char pointee;          /* of a pointer; C_UNKNOWN: cannot be read */
	unsigned char param;            /* enum param_type: how -a shows it; PARAM_END: it cannot */
	unsigned char to;               /* the same of what a pointer points to */
	bool is_const;                  /* const itself, not what it points to */
	const struct param_word *words; /* of an enum or flags that the file describes */
	const struct param_case *cases; /* of a union that the file describes */
};

#define CONF_PARAMS 32

/* A name in the file; length 0: there is none. */
struct conf_name {
	const char *text;
	size_t length;
};

struct conf_param {
	struct conf_name name;
	bool is_label; /* the name is only shown, and no value uses it */
	struct ctype_use use;
	bool is_result;               /* out */
	uint64_t count;               /* of an array; 0 none, or unknown */
	struct conf_name with, times; /* the parameters that it depends on */
	uint64_t needs;               /* it is there only if `with` has one of these bits; 0: always */
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

/* An enum, flags or a union. */
struct conf_words {
	struct conf_name name;
	struct ctype_use use; /* of a parameter of this type */
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
	size_t glob_count; /* of rows that are patterns with wildcards */
	struct function *functions;
	const char **prefixes;
	size_t prefix_count, prefix_capacity;
	struct conf_words *words;
	size_t words_count, words_capacity;
	char **strings; /* all names */
	size_t string_count, string_capacity;
};

/* conf_names.c: a copy that lives as long as the conf. */
const char *conf_keep(struct conf *conf, const char *text, size_t length);
/* The index of the resource of that type, or -1. */
int conf_resource(const struct conf *conf, const char *type, size_t length);
/* Takes a name of letters, digits, '_', '.' and '-', as traces have them; what: of what. NULL: an error was told. */
const char *conf_take_name(struct conf *conf, struct scan *scan, const char *what);
/* Whether the word is a name as C has them. */
bool conf_is_c_name(const struct token *token);
/* The enum, flags or union of that name, or NULL. */
const struct conf_words *conf_words_find(const struct conf *conf, const char *name, size_t length);
bool conf_is_same_name(const struct conf_name *a, const struct conf_name *b);
/* Takes a string or a word as text that people read; NULL: an error was told. */
const char *conf_take_text(struct conf *conf, struct scan *scan, const char *what);

/* ---- Its parts: false where an error was told ---- */

/* conf_type.c: a type with its stars; one as a parameter has it (`hex int`, `void (*)(int)`), without a name; and what
 * a program's prototype says from its result's type on. */
bool conf_take_type(struct scan *scan, struct ctype_use *use);
bool conf_take_shown_type(struct scan *scan, struct ctype_use *use);
bool conf_take_prototype(struct scan *scan, struct prototype *prototype);
/* The value_type of module.h; what has none is TYPE_WORD. */
unsigned char conf_value_type(unsigned char ctype);

/* conf_words.c: a statement that describes an enum, flags or a union, after its first word. */
bool conf_take_words(struct conf *conf, struct scan *scan, bool is_flags);
bool conf_take_union(struct conf *conf, struct scan *scan);

/* conf_param.c: the length in an array's brackets, and what follows a parameter's name (`if flags has 0100`, `by cmd`).
 */
bool conf_take_length(struct scan *scan, struct conf_param *param);
bool conf_take_condition(struct scan *scan, struct conf_param *param);
/* What -a shows of the function's parameters and result. False: an error was told. */
bool conf_set_params(struct conf *conf, struct scan *scan, const struct prototype *prototype,
		     struct function *function);

/* conf_value.c */
bool conf_take_value(struct conf *conf, struct scan *scan, const struct prototype *prototype, struct value *value);
bool conf_take_conditions(struct conf *conf, struct scan *scan, const struct prototype *prototype,
			  struct condition *conditions, size_t max);

/* conf_row.c: a row, behind the word that says its role. */
bool conf_take_row(struct conf *conf, struct scan *scan, unsigned role, unsigned line);

#endif
