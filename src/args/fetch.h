/* The bytes of arguments and results, from registers and the stack. */
#ifndef FT_ARGS_FETCH_H
#define FT_ARGS_FETCH_H

#include "args/formatter.h"

#define GATHER_STACK 1024 /* bytes of the stack that are read at once */

/* Of one call, at its entry or its return. */
struct gathering {
	struct formatter *s;
	bool is_return;
	bool has_floats, has_stack;     /* they were asked for */
	uint32_t stack_from, stack_to;  /* what all arguments together have of the stack, from sp on */
	size_t floats_size, stack_size; /* bytes that are there */
	unsigned char floats[ABI_FLOATS_MAX];
	unsigned char stack[GATHER_STACK];
};

/* Takes the bytes of a value of `size` bytes together, VALUE_BYTES at most, from where they are. False: its place is
 * not known. Of a place that is an address, it is this that is taken. */
bool gather(struct gathering *g, const struct abi_place *place, uint64_t size, unsigned char bytes[VALUE_BYTES],
	    struct value_view *view);
/* Bytes of the floating point registers, from `at` on: all, or 0. */
size_t fetch_floats(struct gathering *g, uint32_t at, void *to, size_t size);

#endif
