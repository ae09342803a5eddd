/* Finds calls in code of 32-bit ARM: the call before a return address, and the call's target through procedure
 * linkage. */
#include "config.h"
#include "arch/arm/arm_insn.h"

#define INSNS_MAX 24 /* number of instructions after a direct call in which an indirect jump is searched for */

enum { DATA_SUB = 2, DATA_ADD = 4 };

/* Recognises bl and blx. The bits of blx rN cannot be the second half of a bl. */
static enum arch_call thumb_call(const unsigned char *end, size_t size)
{
	if (size >= 4 && arm_half_at(end - 4) >> 11 == 0x1e && (arm_half_at(end - 2) & 0xc000) == 0xc000)
		return CALL_FIXED; /* bl, blx */
	return size >= 2 && (arm_half_at(end - 2) & 0xff87) == 0x4780 ? CALL_COMPUTED : CALL_NONE;
}

static bool writes_pc(uint32_t word)
{
	return (word & 0x0c50f000) == 0x0410f000 ||                                    /* ldr pc */
	       (word & 0x0fffffff) == 0x01a0f000 ||                                    /* mov pc, r0 */
	       (word & 0x0ffffff0) == 0x01a0f000 || (word & 0x0ffffff0) == 0x012fff10; /* mov pc, rN; bx */
}

static enum arch_call a32_call(const unsigned char *end, size_t size)
{
	if (size < 4)
		return CALL_NONE;
	const uint32_t word = arm_word_at(end - 4);

	if ((word >> 28 == 15 && (word & 0x0e000000) == 0x0a000000) ||
	    (word >> 28 != 15 && (word & 0x0f000000) == 0x0b000000))
		return CALL_FIXED; /* blx, bl */
	if (word >> 28 == 15)
		return CALL_NONE;
	if ((word & 0x0ffffff0) == 0x012fff30)
		return CALL_COMPUTED; /* blx rN */
	/* mov lr, pc and a jump, as in code for processors without blx */
	return size >= 8 && arm_word_at(end - 8) == 0xe1a0e00f && writes_pc(word) ? CALL_COMPUTED : CALL_NONE;
}

enum arch_call arm_follows_call(uint64_t address, const unsigned char *code, size_t size)
{
	if (address & 1)
		return thumb_call(code + size, size);
	return address & 2 ? CALL_NONE : a32_call(code + size, size);
}

/* Decodes the instruction at a code address. */
static bool arm_calls_decode_at(uint32_t address, const struct arch_memory *code, struct insn *insn)
{
	const uint32_t place = address & ~1u;
	unsigned char bytes[4];
	size_t size = sizeof(bytes);

	/* The last instruction of a page may have two bytes. */
	if (code->read(code->context, place, bytes, size)) {
		size = 2;
		if (code->read(code->context, place, bytes, size))
			return false;
	}
	return arm_decode(address, bytes, size, false, insn);
}

/* The value of ip, in which an entry of the PLT computes the address of its GOT slot. */
struct arm_calls_known {
	bool is_known;
	uint32_t value;
};

static bool base_of(const struct insn *insn, const struct arm_op *op, const struct arm_calls_known *ip, uint32_t *base)
{
	*base = op->n == ARM_PC ? arm_pc_read(insn, op) : op->n == ARM_NO_REGISTER ? 0 : ip->value;
	return op->n == ARM_PC || op->n == ARM_NO_REGISTER || (op->n == ARM_IP && ip->is_known);
}

/* Follows add ip, pc, #x and add ip, ip, #x. */
static bool computes_ip(const struct insn *insn, const struct arm_op *op, struct arm_calls_known *ip)
{
	uint32_t base;

	if (op->kind != OP_DATA || op->d != ARM_IP || (op->flags & (OP_REGISTER | OP_THUMB)) ||
	    (op->code != DATA_ADD && op->code != DATA_SUB) || !base_of(insn, op, ip, &base))
		return false;
	*ip = (struct arm_calls_known){true, op->code == DATA_ADD ? base + op->immediate : base - op->immediate};
	return true;
}

/* Returns true for a load of the pc: `ldr pc, [ip, #x]!` in an entry of the PLT, or `ldr pc` of a literal in a veneer.
 * Sets *slot to the address of the loaded word. */
static bool loads_pc(const struct insn *insn, const struct arm_op *op, const struct arm_calls_known *ip, uint64_t *slot)
{
	uint32_t base;

	if (op->kind != OP_LOAD || op->d != ARM_PC || !(op->flags & OP_BEFORE) || (op->flags & OP_REGISTER) ||
	    !base_of(insn, op, ip, &base))
		return false;
	*slot = op->flags & OP_UP ? base + op->immediate : base - op->immediate;
	return true;
}

/* Returns true for a direct jump, and sets *address to its target. `bx pc`, with which Thumb code enters procedure
 * linkage, is also a direct jump. */
static bool jumps_to(const struct insn *insn, const struct arm_op *op, uint32_t *address)
{
	if (op->kind == OP_BRANCH && !(op->flags & OP_LINK))
		*address = op->immediate;
	else if (op->kind == OP_BRANCH_REGISTER && op->m == ARM_PC && !(op->flags & OP_LINK))
		*address = arm_pc_read(insn, op);
	else
		return false;
	return true;
}

/* Finds the GOT slot of the indirect jump that the code at `address` reaches. Returns false if the code does not always
 * reach an indirect jump through a GOT slot. */
static bool arm_calls_jump_slot(uint32_t address, const struct arch_memory *code, uint64_t *slot)
{
	struct arm_calls_known ip = {false, 0};
	struct insn insn;

	for (unsigned n = 0; n < INSNS_MAX && arm_calls_decode_at(address, code, &insn); n++) {
		const struct arm_op op = arm_op_of(&insn);

		if (op.condition != ARM_ALWAYS)
			return false;
		if (loads_pc(&insn, &op, &ip, slot))
			return true;
		if (jumps_to(&insn, &op, &address))
			continue;
		address += insn.length;
		if (computes_ip(&insn, &op, &ip))
			continue;
		if ((insn.kind != INSN_COPY || insn.is_syscall) && op.kind != OP_NOP)
			return false;
		ip.is_known &= op.kind == OP_NOP;
	}
	return false;
}

bool arm_call_slot(uint64_t return_address, uint64_t got, const struct arch_memory *code, uint64_t *slot)
{
	(void)got;
	struct insn insn;

	if (!arm_calls_decode_at((uint32_t)return_address - 4, code, &insn))
		return false;
	const struct arm_op op = arm_op_of(&insn);

	return insn.length == 4 && op.kind == OP_BRANCH && (op.flags & OP_LINK) &&
	       arm_calls_jump_slot(op.immediate, code, slot);
}
