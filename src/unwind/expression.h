/* DWARF expressions as call frame information uses them: DWARF 5, 2.5 and 6.4.2. Without branches,
 * so that each ends. */
#ifndef FT_UNWIND_EXPRESSION_H
#define FT_UNWIND_EXPRESSION_H

#include "unwind/memory.h"

#include <elfutils/libdw.h>

#define EXPRESSION_OPS_MAX 64

struct expression_op {
	uint64_t number, number2;
	unsigned char atom;
};

/* The registers of a frame, as far as they are known. */
struct frame_registers {
	uint64_t values[64];
	uint64_t known; /* mask */
};

/* Whether expression_evaluate knows all these operations on registers below `registers`. */
bool expression_is_known(const Dwarf_Op *ops, size_t count, unsigned registers);
/* Keeps `count` known operations in `to`, which has room for them. */
void expression_copy(struct expression_op *to, const Dwarf_Op *ops, size_t count);

/* 0, -EFAULT for memory that cannot be read, or -EINVAL for a register that is not known or a
 * malformed expression. */
int expression_evaluate(const struct expression_op *ops, size_t count, const struct frame_registers *registers,
			uint64_t cfa, struct stack_memory *memory, uint64_t *value);

#endif
