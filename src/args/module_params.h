/* Formats parameters that are described by table rows of modules. */
#ifndef FT_ARGS_MODULE_PARAMS_H
#define FT_ARGS_MODULE_PARAMS_H

#include "args/value.h"

/* The parameters of one call as numbers. The description of a parameter may refer to other parameters. */
struct row_call {
	const struct function *row;
	size_t count;           /* number of `values`, one for each parameter of the row */
	const uint64_t *values; /* each as row_number() returns it; for a parameter with cases, all of its bits */
	bool is_return;
	uint64_t result; /* valid if is_return; UINT64_MAX: unknown */
};

/* Returns the size and kind of a parameter for the ABI. Integers narrower than a word are passed as a word. */
struct abi_value row_abi_value(const struct arch *arch, const struct param *param);
/* Returns the parameter as it is in this call: with the type that `cases` selects; the type is PARAM_NONE if this call
 * has no such parameter. */
struct param row_param(const struct row_call *call, const struct param *param);
/* Adds the text of a value. raw: bits of the value; bits above the type's width are ignored. */
void row_show(struct formatter *s, const struct row_call *call, const struct param *param, uint64_t raw);
/* ---- Parts of row_show() in other files ---- */

/* Cuts `raw` to the width of the type (enum param_type), and returns it sign extended or zero extended to 64 bits. */
uint64_t row_number(const struct arch *arch, unsigned type, uint64_t raw);
/* Adds the name of a number in param->words. Returns false if it has none. */
bool show_word(struct formatter *s, const struct param *param, uint64_t number);
/* Adds the names of the bits that are set in a number. */
void show_row_flags(struct formatter *s, const struct param *param, uint64_t number);
/* Adds the name of an error, or its number. */
void show_error(struct formatter *s, int error);
/* Adds the text of a struct sockaddr of `length` bytes at an address. */
void show_sockaddr(struct formatter *s, uint64_t address, uint64_t length);

#endif
