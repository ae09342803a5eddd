/* Decodes Thumb instructions of two and of four bytes, and finds those that use the pc, as described in the ARMv7-A
 * architecture reference manual, A6. Compilers do not generate instructions that are UNPREDICTABLE there; if such an
 * instruction uses the pc, its kind is INSN_STEP. */
#include "config.h"
#include "arch/arm/arm_insn.h"

#define BITS(word, from, count) ((word) >> (from) & ((1u << (count)) - 1))
#define BIT(word, n)            ((word) >> (n)&1u)

enum { DATA_ADD = 4, DATA_CMP = 10, DATA_MOV = 13 };

static void thumb_insn_step(struct insn *insn)
{
	insn->kind = INSN_STEP;
}

static void thumb_insn_emulated(struct insn *insn, struct arm_op *op, enum arm_kind kind)
{
	insn->kind = INSN_EMULATE;
	op->kind = (uint8_t)kind;
}

static int32_t sign_extended(uint32_t value, unsigned bits)
{
	return (int32_t)(value << (32 - bits)) >> (32 - bits);
}

static uint32_t pc_of(const struct insn *insn)
{
	return (uint32_t)insn->address + 4;
}

/* Returns the value of the pc from which literals are addressed. */
static uint32_t literal_base(const struct insn *insn)
{
	return pc_of(insn) & ~3u;
}

static void set_nop(struct insn *insn, struct arm_op *op)
{
	thumb_insn_emulated(insn, op, OP_NOP);
	insn->pc_only = true;
}

static void branch(struct insn *insn, struct arm_op *op, int32_t distance, unsigned condition)
{
	thumb_insn_emulated(insn, op, OP_BRANCH);
	insn->pc_only = true;
	op->condition = (uint8_t)condition;
	op->immediate = (pc_of(insn) + (uint32_t)distance) | 1;
}

/* Makes *op an operation that writes an address to register d. */
static void thumb_insn_address_of(struct insn *insn, struct arm_op *op, unsigned d, uint32_t address)
{
	thumb_insn_emulated(insn, op, OP_DATA);
	op->code = DATA_MOV;
	op->d = (uint8_t)d;
	op->immediate = address;
}

static void thumb_insn_load_literal(struct insn *insn, struct arm_op *op, unsigned d, unsigned size, uint32_t address)
{
	thumb_insn_emulated(insn, op, OP_LOAD);
	op->code = (uint8_t)size;
	op->d = (uint8_t)d;
	op->n = ARM_NO_REGISTER;
	op->immediate = address;
	op->flags |= OP_BEFORE | OP_UP;
}

/* ---- Two bytes ---- */

/* Decodes add, cmp and mov of any registers; bx and blx. */
static void decode_high(struct insn *insn, struct arm_op *op, uint32_t half)
{
	static const unsigned char codes[] = {DATA_ADD, DATA_CMP, DATA_MOV};
	const unsigned what = BITS(half, 8, 2), m = BITS(half, 3, 4), d = BITS(half, 0, 3) | BIT(half, 7) << 3;

	op->m = (uint8_t)m;
	if (what == 3 ? BITS(half, 0, 3) || (BIT(half, 7) && m == ARM_PC) : what == 1 && (m == ARM_PC || d == ARM_PC)) {
		thumb_insn_step(insn);
		return;
	}
	if (what == 3) {
		thumb_insn_emulated(insn, op, OP_BRANCH_REGISTER);
		op->flags |= BIT(half, 7) ? OP_LINK : 0;
		return;
	}
	if (m != ARM_PC && d != ARM_PC) {
		insn->can_emulate = d != ARM_SP;
		op->kind = OP_DATA;
	} else {
		thumb_insn_emulated(insn, op, OP_DATA);
	}
	op->code = codes[what];
	op->flags |= (uint8_t)(OP_REGISTER | (what == 1 ? OP_SETS_FLAGS : 0));
	op->d = (uint8_t)(what == 1 ? 0 : d);
	op->n = (uint8_t)(what == 2 ? 0 : d);
}

/* Decodes push, pop, cbz, cbnz, the IT instruction, and others with the same first four bits. */
static void decode_various(struct insn *insn, struct arm_op *op, uint32_t half)
{
	if (BITS(half, 8, 1) && !BIT(half, 10)) {
		thumb_insn_emulated(insn, op, OP_COMPARE_BRANCH); /* 1011 x0x1 */
		insn->pc_only = true;
		op->code = (uint8_t)BIT(half, 11);
		op->n = (uint8_t)BITS(half, 0, 3);
		op->immediate = (pc_of(insn) + (BIT(half, 9) << 6 | BITS(half, 3, 5) << 1)) | 1;
	} else if (BITS(half, 8, 4) == 13) {
		thumb_insn_emulated(insn, op, OP_LOAD_MANY);
		op->flags |= OP_UP | OP_WRITEBACK;
		op->n = ARM_SP;
		op->list = (uint16_t)(BITS(half, 0, 8) | 1u << ARM_PC);
	} else if (BITS(half, 9, 3) == 2) {
		op->kind = OP_STORE_MANY;
		op->flags |= OP_BEFORE | OP_WRITEBACK;
		op->n = ARM_SP;
		op->list = (uint16_t)(BITS(half, 0, 8) | BIT(half, 8) << ARM_LR);
		insn->can_emulate = op->list;
	} else if (half == 0xbf00) {
		set_nop(insn, op);
	} else if (BITS(half, 8, 4) == 15 && BITS(half, 0, 4)) {
		thumb_insn_emulated(insn, op, OP_IT);
		op->code = (uint8_t)half;
		/* UNPREDICTABLE: the condition is "never", or the block has an "else" part and the condition "always",
		 * whose opposite is "never". */
		if (BITS(half, 4, 4) == 15 || (BITS(half, 4, 4) == ARM_ALWAYS && __builtin_popcount(half & 15) != 1))
			thumb_insn_step(insn);
	} else if ((half & 0xfff7) == 0xb650) {
		thumb_insn_step(insn); /* setend */
	} else {
		thumb_plain_t16(insn, op, half);
	}
}

void arm_decode_t16(struct insn *insn, struct arm_op *op, uint32_t half)
{
	switch (half >> 11) {
	case 0x08:
		if (BIT(half, 10))
			decode_high(insn, op, half);
		else
			thumb_plain_t16(insn, op, half);
		break;
	case 0x09:
		thumb_insn_load_literal(insn, op, BITS(half, 8, 3), 4, literal_base(insn) + BITS(half, 0, 8) * 4);
		break;
	case 0x14:
		thumb_insn_address_of(insn, op, BITS(half, 8, 3), literal_base(insn) + BITS(half, 0, 8) * 4);
		break;
	case 0x16:
	case 0x17:
		decode_various(insn, op, half);
		break;
	case 0x1a:
	case 0x1b:
		insn->is_syscall = BITS(half, 8, 4) == 15;
		if (BITS(half, 8, 4) < ARM_ALWAYS)
			branch(insn, op, sign_extended(BITS(half, 0, 8), 8) * 2, BITS(half, 8, 4));
		break;
	case 0x1c:
		branch(insn, op, sign_extended(BITS(half, 0, 11), 11) * 2, ARM_ALWAYS);
		break;
	default:
		thumb_plain_t16(insn, op, half);
		break;
	}
}

/* ---- Four bytes ---- */

static void thumb_insn_decode_many(struct insn *insn, struct arm_op *op, uint32_t first, uint32_t second)
{
	const unsigned how = BITS(first, 7, 2);
	const bool stores_pc = !BIT(first, 4) && BIT(second, ARM_PC);

	if (how == 0 || how == 3 || !second || BITS(first, 0, 4) == ARM_PC || stores_pc) {
		thumb_insn_step(insn); /* rfe, srs */
		return;
	}
	op->kind = BIT(first, 4) ? OP_LOAD_MANY : OP_STORE_MANY;
	op->flags |= (uint8_t)((how == 1 ? OP_UP : OP_BEFORE) | (BIT(first, 5) ? OP_WRITEBACK : 0));
	op->n = (uint8_t)BITS(first, 0, 4);
	op->list = (uint16_t)second;
	if (op->kind == OP_LOAD_MANY && BIT(second, ARM_PC))
		insn->kind = INSN_EMULATE;
	else
		insn->can_emulate = op->kind == OP_STORE_MANY;
}

/* Decodes ldrd and strd, exclusive accesses, tbb and tbh. */
static void decode_dual(struct insn *insn, struct arm_op *op, uint32_t first, uint32_t second)
{
	const bool load = BIT(first, 4);
	const unsigned what = BITS(second, 4, 4), d = BITS(second, 12, 4), s = BITS(second, 8, 4);
	const uint32_t offset = BITS(second, 0, 8) * 4;

	if (!BIT(first, 8) && !BIT(first, 5)) {
		if ((first & 0xfff0) == 0xe8d0 && what <= 1 && second >> 8 == 0xf0 && BITS(second, 0, 4) < ARM_SP) {
			thumb_insn_emulated(insn, op, OP_TABLE_BRANCH);
			op->n = (uint8_t)BITS(first, 0, 4);
			op->m = (uint8_t)BITS(second, 0, 4);
			op->code = (uint8_t)(what + 1);
		} else if (!BIT(first, 7) || what < 8 || what > 10) {
			thumb_insn_step(insn); /* ldrex, strex; not lda, stl */
		}
	} else if (d == ARM_PC || s == ARM_PC) {
		thumb_insn_step(insn);
	} else if (BITS(first, 0, 4) == ARM_PC) {
		if (!load || BIT(first, 5)) {
			thumb_insn_step(insn);
			return;
		}
		thumb_insn_load_literal(insn, op, d, 8,
					BIT(first, 7) ? literal_base(insn) + offset : literal_base(insn) - offset);
		op->s = (uint8_t)s;
	}
}

/* Decodes a load of the pc. */
static void decode_jump(struct insn *insn, struct arm_op *op, uint32_t first, uint32_t second)
{
	thumb_insn_emulated(insn, op, OP_LOAD);
	op->code = 4;
	op->d = ARM_PC;
	op->n = (uint8_t)BITS(first, 0, 4);
	if (BIT(first, 7)) {
		op->flags |= OP_BEFORE | OP_UP;
		op->immediate = BITS(second, 0, 12);
	} else if (BIT(second, 11)) {
		op->flags |= (uint8_t)((BIT(second, 10) ? OP_BEFORE : 0) | (BIT(second, 9) ? OP_UP : 0) |
				       (BIT(second, 8) ? OP_WRITEBACK : 0));
		op->immediate = BITS(second, 0, 8);
		if (BITS(second, 8, 3) == 6 || !(second & 0x500))
			thumb_insn_step(insn); /* ldrt, or an encoding that is not allocated */
	} else {
		op->flags |= OP_BEFORE | OP_UP | OP_REGISTER;
		op->m = (uint8_t)BITS(second, 0, 4);
		op->amount = (uint8_t)BITS(second, 4, 2);
		if (BITS(second, 6, 5))
			thumb_insn_step(insn);
	}
}

/* Returns true if the encoding of a load or store is not allocated, or if the instruction uses the pc as data, base or
 * offset where that is not allowed. */
static bool is_wrong_access(uint32_t first, uint32_t second)
{
	const bool load = BIT(first, 4), by_register = !BIT(first, 7) && !BIT(second, 11);
	const unsigned size = BITS(first, 5, 2), n = BITS(first, 0, 4);

	if (BIT(first, 8) && !load)
		return n == ARM_PC; /* elements of vectors */
	if (size == 3 || (BIT(first, 8) && size == 2))
		return true;
	if (!load)
		return n == ARM_PC || BITS(second, 12, 4) == ARM_PC || (by_register && BITS(second, 0, 4) == ARM_PC);
	return n != ARM_PC && by_register && BITS(second, 0, 4) == ARM_PC;
}

static void thumb_insn_decode_single(struct insn *insn, struct arm_op *op, uint32_t first, uint32_t second)
{
	const unsigned size = BITS(first, 5, 2), d = BITS(second, 12, 4);
	const uint32_t offset = BITS(second, 0, 12);

	if (is_wrong_access(first, second)) {
		thumb_insn_step(insn);
		return;
	}
	/* str rX, [sp, #-4]!: pushes one register */
	if (first == 0xf84d && BITS(second, 0, 12) == 0xd04) {
		op->kind = OP_STORE_MANY;
		op->flags |= OP_BEFORE | OP_WRITEBACK;
		op->n = ARM_SP;
		op->list = (uint16_t)(1u << d);
		insn->can_emulate = d != ARM_SP;
	}
	if (!BIT(first, 4) || (d == ARM_PC && size != 2))
		return; /* a store, an element of a vector, or a hint */
	if (BITS(first, 0, 4) == ARM_PC) {
		thumb_insn_load_literal(insn, op, d, 1u << size,
					BIT(first, 7) ? literal_base(insn) + offset : literal_base(insn) - offset);
		op->flags |= BIT(first, 8) ? OP_SIGNED : 0;
	} else if (d == ARM_PC) {
		decode_jump(insn, op, first, second);
	}
}

/* Returns true if a data processing instruction uses the pc; the operation is in bits 5 to 8 of its first half. In
 * some fields the pc's number means "no register": in the first operand of mov and mvn, and in the result of tst,
 * teq, cmn and cmp. */
static bool uses_pc(uint32_t first, uint32_t second)
{
	enum { AND = 0, ORR = 2, ORN = 3, EOR = 4, ADD = 8, SUB = 13 };
	const unsigned code = BITS(first, 5, 4);
	const bool is_compared = BIT(first, 4) && (code == AND || code == EOR || code == ADD || code == SUB);

	return (BITS(first, 0, 4) == ARM_PC && code != ORR && code != ORN) ||
	       (BITS(second, 8, 4) == ARM_PC && !is_compared);
}

/* Decodes adr, and other data processing with constants. */
static void decode_constants(struct insn *insn, struct arm_op *op, uint32_t first, uint32_t second)
{
	enum { MOVW = 0x24, MOVT = 0x2c, BFI = 0x36 };
	const uint32_t offset = BIT(first, 10) << 11 | BITS(second, 12, 3) << 8 | BITS(second, 0, 8);
	const unsigned d = BITS(second, 8, 4), what = BITS(first, 4, 6);
	const bool down = (first & 0xfbff) == 0xf2af, has_pc = BITS(first, 0, 4) == ARM_PC;

	if (!BIT(first, 9)) {
		if (uses_pc(first, second))
			thumb_insn_step(insn);
	} else if (((first & 0xfbff) == 0xf20f || down) && d < ARM_SP) {
		thumb_insn_address_of(insn, op, d, down ? literal_base(insn) - offset : literal_base(insn) + offset);
	} else if (d == ARM_PC || (has_pc && what != MOVW && what != MOVT && what != BFI)) {
		thumb_insn_step(insn);
	}
}

/* Decodes data processing with register operands: operations with a shifted operand, products (first byte fb), and
 * others, such as extensions (first byte fa). In products with a sum the third operand, and in extensions the first
 * operand, may be missing; its field then has the pc's number. */
static void thumb_insn_decode_registers(struct insn *insn, uint32_t first, uint32_t second)
{
	const bool is_product = first >> 8 == 0xfb, is_other = first >> 8 == 0xfa;
	const bool is_extension = is_other && !BIT(first, 7) && BIT(second, 7);
	const bool is_long = is_product && BIT(first, 7) && BITS(second, 4, 4) != 15; /* excludes sdiv, udiv */
	const bool has_third = is_long || ((first & 0xfff0) == 0xfb00 && BITS(second, 4, 4) == 1) || /* mls */
			       (first & 0xfff0) == 0xfb60;                                           /* smmls */
	bool has_pc = BITS(second, 0, 4) == ARM_PC;

	if (is_product || is_other)
		has_pc |= BITS(second, 8, 4) == ARM_PC || (BITS(first, 0, 4) == ARM_PC && !is_extension) ||
			  (has_third && BITS(second, 12, 4) == ARM_PC);
	else
		has_pc |= uses_pc(first, second);
	if (has_pc)
		thumb_insn_step(insn);
}

/* Decodes branches whose distance has 25 bits: b, bl, blx. */
static void decode_far(struct insn *insn, struct arm_op *op, uint32_t first, uint32_t second)
{
	const uint32_t sign = BIT(first, 10), i1 = !(BIT(second, 13) ^ sign), i2 = !(BIT(second, 11) ^ sign);
	const uint32_t distance =
		sign << 24 | i1 << 23 | i2 << 22 | BITS(first, 0, 10) << 12 | BITS(second, 0, 11) << 1;

	branch(insn, op, sign_extended(distance, 25), ARM_ALWAYS);
	if (!BIT(second, 14))
		return;
	op->flags |= OP_LINK;
	insn->pc_only = false;
	if (!BIT(second, 12)) { /* blx, to A32 code */
		op->immediate = literal_base(insn) + ((uint32_t)sign_extended(distance, 25) & ~3u);
		if (BIT(second, 0))
			thumb_insn_step(insn);
	}
}

/* Returns true if mrs or msr uses the pc, or if msr writes the byte of the cpsr that contains the byte order. */
static bool is_wrong_status(uint32_t first, uint32_t second)
{
	const bool writes = BITS(first, 5, 2) == 0;

	return writes ? BITS(first, 0, 4) == ARM_PC || (!BIT(first, 4) && BIT(second, 9))
		      : BITS(second, 8, 4) == ARM_PC;
}

static void decode_control(struct insn *insn, struct arm_op *op, uint32_t first, uint32_t second)
{
	if (BITS(second, 12, 3) != 0 && BITS(second, 12, 3) != 2) {
		decode_far(insn, op, first, second);
	} else if (BITS(first, 7, 3) != 7) {
		const uint32_t distance = BIT(first, 10) << 20 | BIT(second, 11) << 19 | BIT(second, 13) << 18 |
					  BITS(first, 0, 6) << 12 | BITS(second, 0, 11) << 1;

		branch(insn, op, sign_extended(distance, 21), BITS(first, 6, 4));
	} else if (first == 0xf3af && second == 0x8000) {
		set_nop(insn, op);
	} else if ((first & 0xfff0) == 0xf3c0 && second == 0x8f00 && BITS(first, 0, 4) != ARM_PC) {
		thumb_insn_emulated(insn, op, OP_BRANCH_REGISTER); /* bxj */
		op->m = (uint8_t)BITS(first, 0, 4);
	} else if ((first & 0xffe0) == 0xf3c0) {
		thumb_insn_step(insn); /* subs pc, lr */
	} else if (((first & 0xffe0) == 0xf380 || (first & 0xffe0) == 0xf3e0) && is_wrong_status(first, second)) {
		thumb_insn_step(insn);
	}
}

void arm_decode_t32(struct insn *insn, struct arm_op *op, uint32_t first, uint32_t second)
{
	const unsigned group = BITS(first, 11, 2);

	if (BIT(first, 10) && group != 2)
		arm_decode_coprocessor(insn, op, first << 16 | second);
	else if (group == 2 && BIT(second, 15))
		decode_control(insn, op, first, second);
	else if (group == 2)
		decode_constants(insn, op, first, second);
	else if (BIT(first, 9))
		thumb_insn_decode_registers(insn, first, second);
	else if (group == 3)
		thumb_insn_decode_single(insn, op, first, second);
	else if (BIT(first, 6))
		decode_dual(insn, op, first, second);
	else
		thumb_insn_decode_many(insn, op, first, second);
	if (insn->kind == INSN_COPY && op->kind == OP_PLAIN)
		thumb_plain_t32(insn, op, first, second);
}
