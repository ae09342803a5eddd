/* Reads the bytes of arguments and results from registers and the stack. */
#ifndef FT_ARGS_FETCH_H
#define FT_ARGS_FETCH_H

#include "args/formatter.h"

#define GATHER_STACK 1024 /* number of bytes of the stack that one read gets */

/* The registers and the stack of one call, at its entry or at its return, as far as they were read. */
struct gathering {
	struct formatter *s;
	bool is_return;
	bool has_floats, has_stack;     /* the floating point registers, and the stack, were read */
	uint32_t stack_from, stack_to;  /* range of the stack that all arguments occupy, in bytes from sp */
	size_t floats_size, stack_size; /* number of bytes that could be read of each */
	unsigned char floats[ABI_FLOATS_MAX];
	unsigned char stack[GATHER_STACK];
};

/* Collects the bytes of a value, at most VALUE_BYTES, and fills *view. size: bytes of the value. If `place` contains
 * the value's address (place->is_address), collects the address instead. Returns false if the place is unknown. */
bool gather(struct gathering *g, const struct abi_place *place, uint64_t size, unsigned char bytes[VALUE_BYTES],
	    struct value_view *view);
/* Copies `size` bytes of the floating point registers from offset `at` on. Returns `size`, or 0 if bytes are
 * missing. */
size_t fetch_floats(struct gathering *g, uint32_t at, void *to, size_t size);

#endif
