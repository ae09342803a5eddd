/* Evaluates DWARF expressions; see expression.h. */
#include "config.h"
#include "unwind/expression.h"

#include <dwarf.h>
#include <errno.h>

#define STACK_MAX 16

bool expression_is_known(const Dwarf_Op *ops, size_t count, unsigned registers)
{
	if (!count || count > EXPRESSION_OPS_MAX)
		return false;
	for (size_t i = 0; i < count; i++)
		switch (ops[i].atom) {
		case DW_OP_lit0 ... DW_OP_lit31:
		case DW_OP_const1u ... DW_OP_consts:
		case DW_OP_dup ... DW_OP_rot:
		case DW_OP_abs ... DW_OP_plus_uconst:
		case DW_OP_shl ... DW_OP_xor:
		case DW_OP_eq ... DW_OP_ne:
		case DW_OP_deref:
		case DW_OP_deref_size:
		case DW_OP_nop:
		case DW_OP_call_frame_cfa:
			break;
		case DW_OP_breg0 ... DW_OP_breg31:
			if (ops[i].atom - DW_OP_breg0 >= (int)registers)
				return false;
			break;
		case DW_OP_bregx:
			if (ops[i].number >= registers)
				return false;
			break;
		default:
			return false;
		}
	return true;
}

void expression_copy(struct expression_op *to, const Dwarf_Op *ops, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = (struct expression_op){ops[i].number, ops[i].number2, ops[i].atom};
}

struct machine {
	uint64_t stack[STACK_MAX];
	unsigned depth;
	unsigned bits;
	const struct frame_registers *registers;
	uint64_t cfa;
	struct stack_memory *memory;
};

static int expression_push(struct machine *m, uint64_t value)
{
	if (m->depth == STACK_MAX)
		return -EINVAL;
	m->stack[m->depth++] = unwind_memory_sum(m->memory, value, 0);
	return 0;
}

static int push_register(struct machine *m, uint64_t reg, uint64_t offset)
{
	if (reg >= 64 || !(m->registers->known >> reg & 1))
		return -EINVAL;
	return expression_push(m, m->registers->values[reg] + offset);
}

static int64_t as_signed(const struct machine *m, uint64_t value)
{
	return m->bits == 32 ? (int32_t)value : (int64_t)value;
}

static int compute_binary(struct machine *m, unsigned atom)
{
	if (m->depth < 2)
		return -EINVAL;
	const uint64_t b = m->stack[--m->depth], a = m->stack[--m->depth];
	const int64_t sa = as_signed(m, a), sb = as_signed(m, b);

	switch (atom) {
	case DW_OP_and:
		return expression_push(m, a & b);
	case DW_OP_div:
		if (!b)
			return -EINVAL;
		return expression_push(m, sb == -1 ? -a : (uint64_t)(sa / sb));
	case DW_OP_minus:
		return expression_push(m, a - b);
	case DW_OP_mod:
		return b ? expression_push(m, a % b) : -EINVAL;
	case DW_OP_mul:
		return expression_push(m, a * b);
	case DW_OP_or:
		return expression_push(m, a | b);
	case DW_OP_plus:
		return expression_push(m, a + b);
	case DW_OP_shl:
		return expression_push(m, b < m->bits ? a << b : 0);
	case DW_OP_shr:
		return expression_push(m, b < m->bits ? a >> b : 0);
	case DW_OP_shra:
		return expression_push(m, (uint64_t)(sa >> (b < m->bits ? b : m->bits - 1)));
	case DW_OP_xor:
		return expression_push(m, a ^ b);
	case DW_OP_eq:
		return expression_push(m, sa == sb);
	case DW_OP_ge:
		return expression_push(m, sa >= sb);
	case DW_OP_gt:
		return expression_push(m, sa > sb);
	case DW_OP_le:
		return expression_push(m, sa <= sb);
	case DW_OP_lt:
		return expression_push(m, sa < sb);
	case DW_OP_ne:
		return expression_push(m, sa != sb);
	default:
		return -EINVAL;
	}
}

/* Executes an operation that rearranges the stack of values. */
static int shuffle(struct machine *m, const struct expression_op *op)
{
	uint64_t *top = m->stack + m->depth, value;

	switch (op->atom) {
	case DW_OP_dup:
		return m->depth ? expression_push(m, top[-1]) : -EINVAL;
	case DW_OP_drop:
		if (!m->depth)
			return -EINVAL;
		m->depth--;
		return 0;
	case DW_OP_over:
		return m->depth >= 2 ? expression_push(m, top[-2]) : -EINVAL;
	case DW_OP_pick:
		return op->number < m->depth ? expression_push(m, *(top - 1 - op->number)) : -EINVAL;
	case DW_OP_swap:
		if (m->depth < 2)
			return -EINVAL;
		value = top[-1];
		top[-1] = top[-2];
		top[-2] = value;
		return 0;
	case DW_OP_rot:
		if (m->depth < 3)
			return -EINVAL;
		value = top[-1];
		top[-1] = top[-2];
		top[-2] = top[-3];
		top[-3] = value;
		return 0;
	default:
		return -EINVAL;
	}
}

static int unary(struct machine *m, const struct expression_op *op)
{
	if (!m->depth)
		return -EINVAL;
	uint64_t *top = &m->stack[m->depth - 1];

	switch (op->atom) {
	case DW_OP_abs:
		*top = as_signed(m, *top) < 0 ? -*top : *top;
		break;
	case DW_OP_neg:
		*top = -*top;
		break;
	case DW_OP_not:
		*top = ~*top;
		break;
	case DW_OP_plus_uconst:
		*top += op->number;
		break;
	case DW_OP_deref:
		if (!unwind_memory_word(m->memory, *top, top))
			return -EFAULT;
		break;
	case DW_OP_deref_size:
		if (op->number > sizeof(*top))
			return -EINVAL;
		if (!unwind_memory_number(m->memory, *top, (unsigned)op->number, top))
			return -EFAULT;
		break;
	default:
		return -EINVAL;
	}
	*top = unwind_memory_sum(m->memory, *top, 0);
	return 0;
}

static int expression_step(struct machine *m, const struct expression_op *op)
{
	switch (op->atom) {
	case DW_OP_lit0 ... DW_OP_lit31:
		return expression_push(m, op->atom - DW_OP_lit0);
	case DW_OP_const1u ... DW_OP_consts:
		return expression_push(m, op->number); /* libdw has already sign-extended signed constants */
	case DW_OP_breg0 ... DW_OP_breg31:
		return push_register(m, op->atom - DW_OP_breg0, op->number);
	case DW_OP_bregx:
		return push_register(m, op->number, op->number2);
	case DW_OP_call_frame_cfa:
		return expression_push(m, m->cfa);
	case DW_OP_nop:
		return 0;
	case DW_OP_dup ... DW_OP_rot:
		return shuffle(m, op);
	case DW_OP_abs:
	case DW_OP_neg:
	case DW_OP_not:
	case DW_OP_plus_uconst:
	case DW_OP_deref:
	case DW_OP_deref_size:
		return unary(m, op);
	default:
		return compute_binary(m, op->atom);
	}
}

int expression_evaluate(const struct expression_op *ops, size_t count, const struct frame_registers *registers,
			uint64_t cfa, struct stack_memory *memory, uint64_t *value)
{
	struct machine m = {
		.bits = memory->pointer_size * 8u,
		.registers = registers,
		.cfa = cfa,
		.memory = memory,
	};

	for (size_t i = 0; i < count; i++) {
		const int error = expression_step(&m, &ops[i]);

		if (error)
			return error;
	}
	if (!m.depth)
		return -EINVAL;
	*value = m.stack[m.depth - 1];
	return 0;
}
