/* Declarations that the parser's files share: the data that was read so far, and the parser's functions. */
#ifndef FT_MODULES_CONF_CONF_PARSE_H
#define FT_MODULES_CONF_CONF_PARSE_H

#include "modules/conf/conf_lexer.h"

/* How a value of a C type is passed, and how it is read through a pointer. */
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
	C_WIDE,    /* 8 bytes in the programs of all processors */
	C_FLOAT,   /* passed in floating point registers */
	C_STRUCT,  /* a struct by value */
	C_UNKNOWN, /* a name that only the program's headers define */
};

struct ctype_use {
	unsigned char type;             /* enum ctype */
	unsigned char pointee;          /* enum ctype of the pointed-to type; C_UNKNOWN: it cannot be read */
	unsigned char param;            /* enum param_type for -a; PARAM_END: it cannot be shown */
	unsigned char to;               /* enum param_type of the pointed-to type */
	bool is_const;                  /* true if the type itself is const, not the type to which it points */
	const struct param_word *words; /* names for values, if the file describes the type as an enum or flags */
	const struct param_case *cases; /* cases, if the file describes the type as a union */
};

#define CONF_PARAMS 32

/* A name in the file; length 0 means that there is no name. */
struct conf_name {
	const char *text;
	size_t length;
};

struct conf_param {
	struct conf_name name;
	bool is_label; /* true if the name is quoted: it is only shown, and values cannot refer to it */
	struct ctype_use use;
	bool is_result;               /* true if the parameter has the word `out` */
	uint64_t count;               /* length of an array; 0: no array, or unknown */
	struct conf_name with, times; /* names of parameters on which this one depends */
	uint64_t needs;               /* mask: the parameter is shown only if `with` has one of these bits; 0: always */
};

/* A function's prototype. */
struct prototype {
	struct ctype_use result;
	bool has_result; /* false for a pattern without a result's type */
	const char *name;
	size_t length;
	struct conf_param params[CONF_PARAMS];
	unsigned param_count;
	bool is_pattern; /* true for a quoted pattern, whose parameters are unknown */
};

/* An enum, flags or a union that the file describes. */
struct conf_words {
	struct conf_name name;
	struct ctype_use use; /* how parameters of this type are passed and shown */
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
	size_t glob_count; /* number of rows whose patterns have wildcards */
	struct function *functions;
	const char **prefixes;
	size_t prefix_count, prefix_capacity;
	struct conf_words *words;
	size_t words_count, words_capacity;
	char **strings; /* all copies of names and texts, which conf_free() frees */
	size_t string_count, string_capacity;
};

/* In conf_names.c: returns a copy of a text, which is valid as long as the conf. */
const char *conf_keep(struct conf *conf, const char *text, size_t length);
/* Returns the index of the resource with that type, or -1. */
int conf_resource(const struct conf *conf, const char *type, size_t length);
/* Parses a name of letters, digits, '_', '.' and '-', as names in traces are. what: the named thing, for messages.
 * Returns NULL after an error. */
const char *conf_take_name(struct conf *conf, struct lexer *lexer, const char *what);
/* Returns true if the token is a valid name in C. */
bool conf_is_c_name(const struct token *token);
/* Returns the enum, flags or union with that name, or NULL. */
const struct conf_words *conf_words_find(const struct conf *conf, const char *name, size_t length);
bool conf_is_same_name(const struct conf_name *a, const struct conf_name *b);
/* Parses a string or a word as a text that functrace prints. Returns NULL after an error. */
const char *conf_take_text(struct conf *conf, struct lexer *lexer, const char *what);

/* ---- The parser's functions; they return false after an error ---- */

/* In conf_type.c. The first function parses a type with its stars; the second a type as it is written for parameters
 * (`hex int`, `void (*)(int)`), without a name; the third a prototype, from the type of its result on. */
bool conf_take_type(struct lexer *lexer, struct ctype_use *use);
bool conf_take_shown_type(struct lexer *lexer, struct ctype_use *use);
bool conf_take_prototype(struct lexer *lexer, struct prototype *prototype);
/* Returns the enum value_type for an enum ctype; TYPE_WORD for a ctype without a value_type of its own. */
unsigned char conf_value_type(unsigned char ctype);

/* In conf_words.c: parse the description of an enum, flags or a union, after its first word. */
bool conf_take_words(struct conf *conf, struct lexer *lexer, bool is_flags);
bool conf_take_union(struct conf *conf, struct lexer *lexer);

/* In conf_param.c: parse the length in an array's brackets, and the words after a parameter's name (`if flags has
 * 0100`, `by cmd`). */
bool conf_take_length(struct lexer *lexer, struct conf_param *param);
bool conf_take_condition(struct lexer *lexer, struct conf_param *param);
/* Sets the function's parameters and result for -a. */
bool conf_set_params(struct conf *conf, struct lexer *lexer, const struct prototype *prototype,
		     struct function *function);

/* In conf_value.c: parse a value, and up to `max` conditions. */
bool conf_take_value(struct conf *conf, struct lexer *lexer, const struct prototype *prototype, struct value *value);
bool conf_take_conditions(struct conf *conf, struct lexer *lexer, const struct prototype *prototype,
			  struct condition *conditions, size_t max);

/* In conf_row.c: parses a row, after the word for the row's role. */
bool conf_take_row(struct conf *conf, struct lexer *lexer, unsigned role, unsigned line);

#endif
