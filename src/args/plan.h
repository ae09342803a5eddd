/* What is known of a function's parameters, and where they are: worked out once, used at each call. */
#ifndef FT_ARGS_PLAN_H
#define FT_ARGS_PLAN_H

#include "args/args.h"

#define PLAN_PARAMS 64 /* of a function, that are shown */

struct plan_param {
	const char *name;
	const struct data_type *type;            /* of a signature; NULL unknown */
	const struct signature_param *signature; /* NULL: of a row, or a result */
	uint64_t size;
	bool is_moved;     /* the compiler may have given it another place than `place` */
	unsigned left_out; /* a bit for each piece of `place` whose register need not have it */
	struct abi_place place;
};

struct args_plan {
	const struct arch *arch;
	const struct function *row; /* NULL: of a signature */
	size_t count;
	bool is_constructor; /* parameter 0 is an object that is still to be made */
	struct plan_param *params;
	bool has_result;
	struct plan_param result;
	bool result_is_unknown; /* whether it has any */
	uint32_t
		number_size; /* the bytes of one that is a number, alone in the first integer register; 0: it is none */
	uint32_t stack_from, stack_to; /* what the parameters have of the stack at the entry */
};

#endif
