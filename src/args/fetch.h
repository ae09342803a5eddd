/* Reads the bytes of arguments and results from registers and the stack. */
#ifndef FT_ARGS_FETCH_H
#define FT_ARGS_FETCH_H

#include "args/formatter.h"

#define GATHER_STACK 1024 /* bytes of the stack that one read covers */

/* The registers and the stack of one call as far as they were read, at its entry or at its return. */
struct gathering {
	struct formatter *s;
	bool is_return;
	bool has_floats, has_stack;     /* already read */
	uint32_t stack_from, stack_to;  /* the part of the stack that all arguments use, from sp on */
	size_t floats_size, stack_size; /* bytes that could be read */
	unsigned char floats[ABI_FLOATS_MAX];
	unsigned char stack[GATHER_STACK];
};

/* Collects the bytes of a value of `size` bytes, at most VALUE_BYTES, and fills *view. If the place contains the
 * value's address (place->is_address), collects the address. False if the place is unknown. */
bool gather(struct gathering *g, const struct abi_place *place, uint64_t size, unsigned char bytes[VALUE_BYTES],
	    struct value_view *view);
/* Copies bytes of the floating point registers, from `at` on. Returns `size`, or 0 if some are missing. */
size_t fetch_floats(struct gathering *g, uint32_t at, void *to, size_t size);

#endif
