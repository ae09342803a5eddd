/* Parameters as modules' rows describe them. */
#ifndef FT_ARGS_MODULE_PARAMS_H
#define FT_ARGS_MODULE_PARAMS_H

#include "args/value.h"

/* The numbers of a call that parameters refer to. */
struct row_call {
	const struct function *row;
	size_t count;           /* of its parameters */
	const uint64_t *values; /* as row_number() has them; of what has cases all bits */
	bool is_return;
	uint64_t result; /* at the return */
};

/* What the ABI has to know of a parameter: a word, for what is narrower is passed as one. */
struct abi_value row_abi_value(const struct arch *arch, const struct param *param);
/* A parameter as it is in this call: its type by `cases`, PARAM_NONE if it is not there. */
struct param row_param(const struct row_call *call, const struct param *param);
/* Adds the text of a value, whose bits these are; what is narrower than 64 bits has any others. */
void row_show(struct formatter *s, const struct row_call *call, const struct param *param, uint64_t raw);
/* ---- Parts of it, each in a file of its own ---- */

/* The bits of it that count, sign extended. */
uint64_t row_number(const struct arch *arch, unsigned type, uint64_t raw);
/* The name that the words have for a number. False: none has. */
bool show_word(struct formatter *s, const struct param *param, uint64_t number);
void show_row_flags(struct formatter *s, const struct param *param, uint64_t number);
/* The name of an error, or its number. */
void show_error(struct formatter *s, int error);
/* A struct sockaddr of `length` bytes at an address. */
void show_sockaddr(struct formatter *s, uint64_t address, uint64_t length);

#endif
