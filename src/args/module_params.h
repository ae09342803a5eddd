/* Formats parameters that the rows of modules describe. */
#ifndef FT_ARGS_MODULE_PARAMS_H
#define FT_ARGS_MODULE_PARAMS_H

#include "args/value.h"

/* The numbers of one call, to which parameters refer. */
struct row_call {
	const struct function *row;
	size_t count;           /* of `values`: the row's parameters */
	const uint64_t *values; /* as row_number() returns them; all bits of a parameter with cases */
	bool is_return;
	uint64_t result; /* set at the return; UINT64_MAX if unknown */
};

/* Returns what the ABI has to know about a parameter. Types narrower than a word are passed as a word. */
struct abi_value row_abi_value(const struct arch *arch, const struct param *param);
/* Returns the parameter as it is in this call, with a type by `cases`; PARAM_NONE if the call does not have it. */
struct param row_param(const struct row_call *call, const struct param *param);
/* Adds the text of a value. raw: its bits; those above the type's width are ignored. */
void row_show(struct formatter *s, const struct row_call *call, const struct param *param, uint64_t raw);
/* ---- Parts of row_show() in other files ---- */

/* Returns the bits of `raw` that belong to the type (enum param_type), sign or zero extended to 64 bits. */
uint64_t row_number(const struct arch *arch, unsigned type, uint64_t raw);
/* Adds the name that param->words has for a number. False if it has none. */
bool show_word(struct formatter *s, const struct param *param, uint64_t number);
/* Adds the names of a number's bits. */
void show_row_flags(struct formatter *s, const struct param *param, uint64_t number);
/* Adds the name of an error, or its number. */
void show_error(struct formatter *s, int error);
/* Adds the text of the struct sockaddr of `length` bytes at an address. */
void show_sockaddr(struct formatter *s, uint64_t address, uint64_t length);

#endif
