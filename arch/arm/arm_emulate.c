/* Emulates ARM instructions that use the pc. If no slot is free, emulates many others, too. */
#include "config.h"
#include "arch/arm_condition.h"
#include "arch/arm/arm_insn.h"

#include <errno.h>

struct arm_emulate_run {
	const struct insn *insn;
	struct arm_op op;
	const struct arch_memory *mem;
	uint32_t *words; /* the registers, which the instruction changes */
	bool in_it_block;
};

static unsigned it_state(uint32_t cpsr)
{
	return (cpsr >> 25 & 3) | (cpsr >> 8 & 0xfc);
}

static uint32_t with_it_state(uint32_t cpsr, unsigned it)
{
	return (cpsr & ~CPSR_IT) | (it & 3) << 25 | (it & 0xfc) << 8;
}

static uint32_t advanced(uint32_t cpsr)
{
	const unsigned it = it_state(cpsr);

	return with_it_state(cpsr, it & 7 ? (it & 0xe0) | (it << 1 & 0x1f) : 0);
}

static uint32_t arm_emulate_get(const struct arm_emulate_run *run, unsigned n)
{
	if (n == ARM_NO_REGISTER)
		return 0;
	return n == ARM_PC ? arm_pc_read(run->insn, &run->op) : run->words[n];
}

/* Sets the pc to a code address, and the state (A32 or Thumb) from the address's bit 0. */
static int branch_to(struct arm_emulate_run *run, uint32_t code)
{
	const bool thumb = code & 1;

	if ((code & 3) == 2)
		return -EINVAL; /* A32 code is at multiples of four */
	run->words[ARM_PC] = code & ~1u;
	run->words[ARM_CPSR] = thumb ? run->words[ARM_CPSR] | CPSR_THUMB : run->words[ARM_CPSR] & ~CPSR_THUMB;
	return 0;
}

static void set_link_register(struct arm_emulate_run *run)
{
	const bool thumb = run->op.flags & OP_THUMB;

	run->words[ARM_LR] = ((uint32_t)run->insn->address + run->insn->length) | thumb;
}

static int run_branch(struct arm_emulate_run *run, uint32_t code)
{
	if (branch_to(run, code) < 0)
		return -EINVAL;
	if (run->op.flags & OP_LINK)
		set_link_register(run);
	return 0;
}

static int run_table_branch(struct arm_emulate_run *run)
{
	const unsigned size = run->op.code;
	const uint32_t address = arm_emulate_get(run, run->op.n) + arm_emulate_get(run, run->op.m) * size;
	unsigned char bytes[2] = {0};

	if (run->mem->read(run->mem->context, address, bytes, size))
		return -EFAULT;
	return branch_to(run, (arm_pc_read(run->insn, &run->op) + 2 * arm_half_at(bytes)) | 1);
}

/* ---- Data processing ---- */

static uint32_t arm_emulate_shifted(uint32_t value, unsigned shift, unsigned amount, bool *carry)
{
	if (shift == 0 && !amount)
		return value;
	if (shift == 3 && !amount) { /* rrx */
		const uint32_t top = (uint32_t)*carry << 31;

		*carry = value & 1;
		return value >> 1 | top;
	}
	if (!amount)
		amount = 32; /* lsr and asr by 0 mean 32 */
	switch (shift) {
	case 0:
		*carry = value >> (32 - amount) & 1;
		return value << amount;
	case 1:
		*carry = value >> (amount - 1) & 1;
		return amount == 32 ? 0 : value >> amount;
	case 2:
		*carry = value >> (amount - 1) & 1;
		return (uint32_t)((int32_t)value >> (amount == 32 ? 31 : amount));
	default:
		*carry = value >> (amount - 1) & 1;
		return value >> amount | value << (32 - amount);
	}
}

static uint32_t data_operand(const struct arm_emulate_run *run, bool *carry)
{
	const struct arm_op *op = &run->op;

	if (op->flags & OP_REGISTER)
		return arm_emulate_shifted(arm_emulate_get(run, op->m), op->shift, op->amount, carry);
	if (op->amount) /* the immediate is rotated */
		*carry = op->immediate >> 31;
	return op->immediate;
}

struct outcome {
	uint32_t value;
	bool carry, overflow;
};

static struct outcome add_with_carry(uint32_t a, uint32_t b, bool carry)
{
	const uint64_t wide = (uint64_t)a + b + carry;
	const uint32_t value = (uint32_t)wide;

	return (struct outcome){value, wide >> 32 & 1, (~(a ^ b) & (a ^ value)) >> 31};
}

/* Computes the data processing operation that has the number `code` in A32. logical: the carry and the overflow that a
 * logical operation leaves in the flags. */
static struct outcome compute(unsigned code, uint32_t a, uint32_t b, bool carry, struct outcome logical)
{
	switch (code) {
	case 0:
	case 8:
		logical.value = a & b;
		return logical;
	case 1:
	case 9:
		logical.value = a ^ b;
		return logical;
	case 2:
	case 10:
		return add_with_carry(a, ~b, true);
	case 3:
		return add_with_carry(b, ~a, true);
	case 4:
	case 11:
		return add_with_carry(a, b, false);
	case 5:
		return add_with_carry(a, b, carry);
	case 6:
		return add_with_carry(a, ~b, carry);
	case 7:
		return add_with_carry(b, ~a, carry);
	case 12:
		logical.value = a | b;
		return logical;
	case 13:
		logical.value = b;
		return logical;
	case 14:
		logical.value = a & ~b;
		return logical;
	default:
		logical.value = ~b;
		return logical;
	}
}

/* Returns true if the instruction sets flags. Instructions of two bytes that have a result set flags only outside of
 * IT blocks. */
static bool sets_flags(const struct arm_emulate_run *run, bool has_result)
{
	return (run->op.flags & OP_SETS_FLAGS) && !(has_result && run->in_it_block && run->insn->length == 2);
}

static int run_data(struct arm_emulate_run *run)
{
	const struct arm_op *op = &run->op;
	const uint32_t cpsr = run->words[ARM_CPSR];
	const bool carry = cpsr & FLAG_C, has_result = op->code < 8 || op->code > 11;
	struct outcome logical = {.carry = carry, .overflow = cpsr & FLAG_V};
	const uint32_t a = arm_emulate_get(run, op->n), b = data_operand(run, &logical.carry);
	const struct outcome out = compute(op->code, a, b, carry, logical);

	if (sets_flags(run, has_result))
		run->words[ARM_CPSR] = (cpsr & ~(FLAG_N | FLAG_Z | FLAG_C | FLAG_V)) | (out.value & FLAG_N) |
				       (out.value ? 0 : FLAG_Z) | (out.carry ? FLAG_C : 0) |
				       (out.overflow ? FLAG_V : 0);
	if (!has_result)
		return 0;
	if (op->d != ARM_PC) {
		run->words[op->d] = out.value;
		return 0;
	}
	/* Thumb code stays in Thumb state; in A32 code the lowest bit selects the state. */
	return branch_to(run, op->flags & OP_THUMB ? out.value | 1 : out.value);
}

/* ---- Loads and stores ---- */

/* Returns the address of a load or store. *base: the base after writeback. */
static uint32_t transfer_address(const struct arm_emulate_run *run, uint32_t *base)
{
	const struct arm_op *op = &run->op;
	bool carry = run->words[ARM_CPSR] & FLAG_C;
	const uint32_t offset = op->flags & OP_REGISTER ? arm_emulate_shifted(arm_emulate_get(run, op->m), op->shift,
									      op->amount, &carry)
							: op->immediate;
	const uint32_t old = arm_emulate_get(run, op->n), moved = op->flags & OP_UP ? old + offset : old - offset;

	*base = moved;
	return op->flags & OP_BEFORE ? moved : old;
}

static uint32_t extended(const struct arm_op *op, uint32_t value)
{
	if (!(op->flags & OP_SIGNED))
		return value;
	return op->code == 1 ? (uint32_t)(int32_t)(int8_t)value : (uint32_t)(int32_t)(int16_t)value;
}

static int run_load(struct arm_emulate_run *run)
{
	const struct arm_op *op = &run->op;
	unsigned char bytes[8] = {0};
	uint32_t base;
	const uint32_t address = transfer_address(run, &base);

	/* The processor requires that these addresses are aligned. */
	if (((op->code == 8 || op->d == ARM_PC) && (address & 3)) ||
	    run->mem->read(run->mem->context, address, bytes, op->code))
		return -EFAULT;
	if (op->d == ARM_PC) {
		if (branch_to(run, arm_word_at(bytes)) < 0)
			return -EINVAL;
	} else {
		run->words[op->d] = extended(op, arm_word_at(bytes));
	}
	if (op->code == 8)
		run->words[op->s] = arm_word_at(bytes + 4);
	if (op->flags & OP_WRITEBACK)
		run->words[op->n] = base;
	return 0;
}

static int run_store(struct arm_emulate_run *run)
{
	const struct arm_op *op = &run->op;
	unsigned char bytes[4];
	uint32_t base;
	const uint32_t address = transfer_address(run, &base);

	arm_put_word(bytes, arm_emulate_get(run, op->d));
	if (run->mem->write(run->mem->context, address, bytes, op->code))
		return -EFAULT;
	if (op->flags & OP_WRITEBACK)
		run->words[op->n] = base;
	return 0;
}

/* Returns the lowest address at which a register list is loaded or stored. *base: the base after writeback. */
static uint32_t list_place(const struct arm_emulate_run *run, uint32_t size, uint32_t *base)
{
	const struct arm_op *op = &run->op;
	const uint32_t old = arm_emulate_get(run, op->n);

	*base = op->flags & OP_UP ? old + size : old - size;
	if (op->flags & OP_UP)
		return op->flags & OP_BEFORE ? old + 4 : old;
	return op->flags & OP_BEFORE ? *base : *base + 4;
}

static int run_many(struct arm_emulate_run *run)
{
	const struct arm_op *op = &run->op;
	const bool load = op->kind == OP_LOAD_MANY;
	const unsigned size = 4 * (unsigned)__builtin_popcount(op->list);
	unsigned char bytes[64], *at = bytes;
	uint32_t base, code = 0;
	const uint32_t address = list_place(run, size, &base);

	if ((address & 3) || (load && run->mem->read(run->mem->context, address, bytes, size)))
		return -EFAULT;
	for (unsigned reg = 0; reg < 16; reg++) {
		if (!(op->list >> reg & 1))
			continue;
		if (!load)
			arm_put_word(at, arm_emulate_get(run, reg));
		else if (reg == ARM_PC)
			code = arm_word_at(at);
		else
			run->words[reg] = arm_word_at(at);
		at += 4;
	}
	if (!load && run->mem->write(run->mem->context, address, bytes, size))
		return -EFAULT;
	if ((op->flags & OP_WRITEBACK) && !(load && op->list >> op->n & 1))
		run->words[op->n] = base;
	return load && op->list >> ARM_PC & 1 ? branch_to(run, code) : 0;
}

static int run_operation(struct arm_emulate_run *run)
{
	switch (run->op.kind) {
	case OP_NOP:
		return 0;
	case OP_BRANCH:
		return run_branch(run, run->op.immediate);
	case OP_BRANCH_REGISTER:
		return run_branch(run, arm_emulate_get(run, run->op.m));
	case OP_COMPARE_BRANCH:
		return !run->words[run->op.n] == !run->op.code ? branch_to(run, run->op.immediate) : 0;
	case OP_TABLE_BRANCH:
		return run_table_branch(run);
	case OP_LOAD:
		return run_load(run);
	case OP_STORE:
		return run_store(run);
	case OP_LOAD_MANY:
	case OP_STORE_MANY:
		return run_many(run);
	case OP_DATA:
		return run_data(run);
	case OP_IT:
		run->words[ARM_CPSR] = with_it_state(run->words[ARM_CPSR], run->op.code);
		return 0;
	default:
		return -EINVAL;
	}
}

int arm_emulate(const struct insn *insn, struct arch_regs *regs, const struct arch_memory *mem)
{
	struct arch_regs next = *regs;
	struct arm_emulate_run run = {insn, arm_op_of(insn), mem, next.narrow, false};
	const bool thumb = run.op.flags & OP_THUMB;
	const uint32_t cpsr = next.narrow[ARM_CPSR];
	const unsigned it = thumb ? it_state(cpsr) : 0;
	const bool condition_holds =
		arm_condition_holds(run.op.condition, cpsr) && (!(it & 0xf) || arm_condition_holds(it >> 4, cpsr));

	run.in_it_block = it & 0xf;
	next.narrow[ARM_PC] = (uint32_t)insn->address + insn->length;
	if (it)
		next.narrow[ARM_CPSR] = advanced(cpsr);
	if (condition_holds) {
		const int error = run_operation(&run);

		if (error)
			return error;
	}
	*regs = next;
	return 0;
}
