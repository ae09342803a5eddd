/* A function's parameters and their places. A plan is made once for a function, and used at each call. */
#ifndef FT_ARGS_PLAN_H
#define FT_ARGS_PLAN_H

#include "args/args.h"

#define PLAN_PARAMS 64 /* the largest number of a function's parameters that are shown */

struct plan_param {
	const char *name;
	const struct data_type *type;            /* type in debug information; NULL: unknown */
	const struct signature_param *signature; /* NULL for a parameter of a table row, and for a result */
	uint64_t size;
	bool is_moved;     /* the compiler may have chosen another place than `place` */
	unsigned left_out; /* one bit for each piece of `place`; 1: callers may leave the piece out */
	struct abi_place place;
};

struct args_plan {
	const struct arch *arch;
	const struct function *row; /* NULL: the plan is made from a signature */
	size_t count;
	bool is_constructor; /* parameter 0 is a C++ object whose constructor begins */
	struct plan_param *params;
	bool has_result;
	struct plan_param result;
	enum args_doubt doubt; /* doubt about the number that the function returns */
	/* size, in bytes, of a result that is a number in the first integer register; else 0 */
	uint32_t number_size;
	uint32_t stack_from, stack_to; /* range of the stack that all arguments occupy at the entry, in bytes from sp */
};

#endif
