/* DWARF expressions of call frame information (DWARF 5, 2.5 and 6.4.2), without branches, so that each evaluation
 * ends. */
#ifndef FT_UNWIND_EXPRESSION_H
#define FT_UNWIND_EXPRESSION_H

#include "unwind/unwind_memory.h"

#include <elfutils/libdw.h>

#define EXPRESSION_OPS_MAX 64

struct expression_op {
	uint64_t number, number2;
	unsigned char atom;
};

/* The known values of the registers of a frame. */
struct frame_registers {
	uint64_t values[64];
	uint64_t known; /* mask of the registers whose values are known */
};

/* Returns true if expression_evaluate() supports all these operations, and if they use only registers with numbers
 * below `registers`. */
bool expression_is_known(const Dwarf_Op *ops, size_t count, unsigned registers);
/* Copies `count` supported operations to `to`, which has room for them. */
void expression_copy(struct expression_op *to, const Dwarf_Op *ops, size_t count);

/* Evaluates an expression. Returns 0, -EFAULT if memory cannot be read, or -EINVAL for an unknown register or a
 * malformed expression. */
int expression_evaluate(const struct expression_op *ops, size_t count, const struct frame_registers *registers,
			uint64_t cfa, struct stack_memory *memory, uint64_t *value);

#endif
