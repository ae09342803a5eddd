/* A function's parameters and their places, determined once and used at each call. */
#ifndef FT_ARGS_PLAN_H
#define FT_ARGS_PLAN_H

#include "args/args.h"

#define PLAN_PARAMS 64 /* parameters of a function that are shown */

struct plan_param {
	const char *name;
	const struct data_type *type;            /* from debug information; NULL if unknown */
	const struct signature_param *signature; /* NULL for a row's parameter, and for a result */
	uint64_t size;
	bool is_moved;     /* the compiler may have chosen another place than `place` */
	unsigned left_out; /* a bit for each piece of `place` that callers may leave out */
	struct abi_place place;
};

struct args_plan {
	const struct arch *arch;
	const struct function *row; /* NULL: the plan is of a signature */
	size_t count;
	bool is_constructor; /* parameter 0 is an object that is not constructed yet */
	struct plan_param *params;
	bool has_result;
	struct plan_param result;
	bool result_is_unknown;        /* it is unknown whether there is a result */
	uint32_t number_size;          /* bytes of a result that is a number in the first integer register; else 0 */
	uint32_t stack_from, stack_to; /* the part of the stack that all arguments use at the entry, from sp on */
};

#endif
