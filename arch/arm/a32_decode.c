/* Decodes A32 instructions, and finds those that use the pc, as described in the ARMv7-A architecture reference
 * manual, A5. Compilers do not generate instructions that are UNPREDICTABLE there; if such an instruction uses the
 * pc, its kind is INSN_STEP. */
#include "config.h"
#include "arch/arm/arm_insn.h"

#define BITS(word, from, count) ((word) >> (from) & ((1u << (count)) - 1))
#define BIT(word, n)            ((word) >> (n)&1u)

static void arm_insn_step(struct insn *insn)
{
	insn->kind = INSN_STEP;
}

static void arm_insn_emulated(struct insn *insn, struct arm_op *op, enum arm_kind kind)
{
	insn->kind = INSN_EMULATE;
	op->kind = (uint8_t)kind;
}

/* Returns the flags for bits P, U and W of a load or store. */
static uint8_t indexing(uint32_t word)
{
	const bool before = BIT(word, 24);

	return (uint8_t)((before ? OP_BEFORE : 0) | (BIT(word, 23) ? OP_UP : 0) |
			 (!before || BIT(word, 21) ? OP_WRITEBACK : 0));
}

static bool is_unprivileged(uint32_t word)
{
	return !BIT(word, 24) && BIT(word, 21);
}

/* ---- Loads and stores ---- */

static void arm_insn_decode_single(struct insn *insn, struct arm_op *op, uint32_t word)
{
	const bool load = BIT(word, 20), byte = BIT(word, 22), by_register = BIT(word, 25);

	op->kind = load ? OP_LOAD : OP_STORE;
	op->code = byte ? 1 : 4;
	op->flags |= indexing(word);
	op->n = (uint8_t)BITS(word, 16, 4);
	op->d = (uint8_t)BITS(word, 12, 4);
	op->immediate = BITS(word, 0, 12);
	if (by_register) {
		op->flags |= OP_REGISTER;
		op->m = (uint8_t)BITS(word, 0, 4);
		op->shift = (uint8_t)BITS(word, 5, 2);
		op->amount = (uint8_t)BITS(word, 7, 5);
	}
	insn->can_emulate = !is_unprivileged(word) && !((op->flags & OP_WRITEBACK) && op->n == op->d);
	if (op->n != ARM_PC && op->d != ARM_PC && !(by_register && op->m == ARM_PC))
		return;
	if (is_unprivileged(word) || (op->d == ARM_PC && byte) || (by_register && op->m == ARM_PC) ||
	    (op->n == ARM_PC && (!load || (op->flags & OP_WRITEBACK))))
		arm_insn_step(insn);
	else
		insn->kind = INSN_EMULATE;
}

/* Decodes loads and stores of half words, of signed bytes, and of two words. */
static void decode_extra(struct insn *insn, struct arm_op *op, uint32_t word)
{
	const unsigned what = BITS(word, 5, 2), d = BITS(word, 12, 4);
	const bool load = BIT(word, 20), dual = !load && what == 2, is_pair = !load && what >= 2;
	const bool by_register = !BIT(word, 22), uses_pc = BITS(word, 16, 4) == ARM_PC;

	/* The second register of a pair has the next number. */
	if (d == ARM_PC || (is_pair && (d & 1 || d == ARM_LR)) || (by_register && BITS(word, 0, 4) == ARM_PC)) {
		arm_insn_step(insn);
		return;
	}
	if (!uses_pc)
		return;
	if (is_unprivileged(word) || !(load || dual) || (indexing(word) & OP_WRITEBACK) ||
	    (by_register && BITS(word, 8, 4))) {
		arm_insn_step(insn);
		return;
	}
	arm_insn_emulated(insn, op, OP_LOAD);
	op->code = dual ? 8 : what == 2 ? 1 : 2;
	op->flags |= (uint8_t)(indexing(word) | (load && what >= 2 ? OP_SIGNED : 0));
	op->n = ARM_PC;
	op->d = (uint8_t)d;
	op->s = (uint8_t)(d + 1);
	op->immediate = BITS(word, 8, 4) << 4 | BITS(word, 0, 4);
	if (by_register) {
		op->flags |= OP_REGISTER;
		op->m = (uint8_t)BITS(word, 0, 4);
	}
}

static void arm_insn_decode_many(struct insn *insn, struct arm_op *op, uint32_t word)
{
	const bool load = BIT(word, 20), other_mode = BIT(word, 22);
	const unsigned n = BITS(word, 16, 4);

	op->kind = load ? OP_LOAD_MANY : OP_STORE_MANY;
	op->flags |= (uint8_t)((BIT(word, 24) ? OP_BEFORE : 0) | (BIT(word, 23) ? OP_UP : 0) |
			       (BIT(word, 21) ? OP_WRITEBACK : 0));
	op->n = (uint8_t)n;
	op->list = (uint16_t)word;
	if (other_mode || n == ARM_PC || !op->list)
		arm_insn_step(insn);
	else if (op->list >> ARM_PC & 1)
		insn->kind = INSN_EMULATE;
	else
		insn->can_emulate = !load;
}

void arm_decode_coprocessor(struct insn *insn, struct arm_op *op, uint32_t word)
{
	const bool thumb = op->flags & OP_THUMB, is_conditional = word >> 28 != 15;
	const bool is_vector = is_conditional && (BITS(word, 9, 3) == 5 || BITS(word, 8, 4) == 9);

	/* mcr, mcrr, mrrc, and mrc of a vector register use the pc if bits 12 to 15 contain the pc's number. In vmrs of
	 * the flags, and in all other mrc, this number means the flags. */
	if (is_conditional && BITS(word, 12, 4) == ARM_PC &&
	    ((word & 0x0f100010) == 0x0e000010 || (word & 0x0fe00000) == 0x0c400000 ||
	     ((word & 0x0f100e10) == 0x0e100a10 && (word & 0x0fffffff) != 0x0ef1fa10)))
		arm_insn_step(insn);
	if (BITS(word, 25, 3) != 6 || BITS(word, 16, 4) != ARM_PC)
		return;
	/* vldr has P set and W clear; all other instructions are stepped */
	if (!is_vector || !BIT(word, 20) || !BIT(word, 24) || BIT(word, 21)) {
		arm_insn_step(insn);
		return;
	}
	const unsigned size = BITS(word, 8, 4) == 9 ? 2 : BIT(word, 8) ? 8 : 4;
	const uint32_t offset = BITS(word, 0, 8) * (size == 2 ? 2 : 4);
	const uint32_t base = ((uint32_t)insn->address + (thumb ? 4 : 8)) & ~3u;

	op->kind = OP_LITERAL;
	op->immediate = word;
	insn->literal_size = (unsigned char)size;
	insn->literal_at = BIT(word, 23) ? base + offset : base - offset;
}

/* Returns true if an msr writes the byte of the cpsr that contains the byte order. Such an msr is not copied, because
 * the jump after the copy would read its address in another byte order, as after setend. */
static bool sets_order(uint32_t word)
{
	return !BIT(word, 22) && BIT(word, 17);
}

/* ---- Branches ---- */

static void decode_branch(struct insn *insn, struct arm_op *op, uint32_t word, bool to_thumb)
{
	const uint32_t distance = (uint32_t)((int32_t)(word << 8) >> 6);

	arm_insn_emulated(insn, op, OP_BRANCH);
	op->immediate = (uint32_t)insn->address + 8 + distance;
	if (to_thumb)
		op->immediate = (op->immediate + (BIT(word, 24) << 1)) | 1;
	if (to_thumb || BIT(word, 24))
		op->flags |= OP_LINK;
	else
		insn->pc_only = true;
}

/* Decodes bx, blx, bxj; clz, qadd, mrs, msr, crc32, hvc, smc, eret. */
static void decode_miscellaneous(struct insn *insn, struct arm_op *op, uint32_t word)
{
	const unsigned what = BITS(word, 4, 4), which = BITS(word, 21, 2);

	op->m = (uint8_t)BITS(word, 0, 4);
	if (which == 1 && what >= 1 && what <= 3 && BITS(word, 8, 12) == 0xfff && !(what == 3 && op->m == ARM_PC)) {
		arm_insn_emulated(insn, op, OP_BRANCH_REGISTER);
		op->flags |= what == 3 ? OP_LINK : 0;
	} else if ((which == 1 && what >= 1 && what <= 3) || (which == 3 && what == 6)) {
		arm_insn_step(insn);
	} else if (what == 0 && (which & 1 ? sets_order(word) || op->m == ARM_PC : BITS(word, 12, 4) == ARM_PC)) {
		arm_insn_step(insn);
	} else if ((what == 4 || what == 5) && /* crc32; qadd and the like */
		   (BITS(word, 16, 4) == ARM_PC || BITS(word, 12, 4) == ARM_PC || op->m == ARM_PC)) {
		arm_insn_step(insn);
	}
}

/* ---- Data processing ---- */

static bool has_no_result(unsigned code)
{
	return code >= 8 && code <= 11; /* tst, teq, cmp, cmn */
}

static bool has_one_operand(unsigned code)
{
	return code == 13 || code == 15; /* mov, mvn */
}

static void decode_data(struct insn *insn, struct arm_op *op, uint32_t word)
{
	const bool by_register = !BIT(word, 25), sets_flags = BIT(word, 20);
	const bool is_shifted_by_register = by_register && BIT(word, 4);
	const unsigned code = BITS(word, 21, 4), rotation = 2 * BITS(word, 8, 4);
	const uint32_t number = BITS(word, 0, 8);

	op->kind = OP_DATA;
	op->code = (uint8_t)code;
	op->flags |= sets_flags ? OP_SETS_FLAGS : 0;
	op->n = (uint8_t)(has_one_operand(code) ? 0 : BITS(word, 16, 4));
	op->d = (uint8_t)(has_no_result(code) ? 0 : BITS(word, 12, 4));
	if (by_register) {
		op->flags |= OP_REGISTER;
		op->m = (uint8_t)BITS(word, 0, 4);
		op->shift = (uint8_t)BITS(word, 5, 2);
		op->amount = (uint8_t)BITS(word, 7, 5);
	} else {
		op->amount = (uint8_t)rotation;
		op->immediate = rotation ? number >> rotation | number << (32 - rotation) : number;
	}
	/* A register field that the operation does not use should be 0. If it is not, processors may behave
	 * differently. */
	const unsigned unused = has_no_result(code) ? BITS(word, 12, 4) : has_one_operand(code) ? BITS(word, 16, 4) : 0;

	insn->can_emulate = !is_shifted_by_register && !unused;
	if (op->d != ARM_PC && op->n != ARM_PC && !(by_register && op->m == ARM_PC) && unused != ARM_PC &&
	    !(is_shifted_by_register && BITS(word, 8, 4) == ARM_PC))
		return;
	/* An operation that uses the pc is UNPREDICTABLE if it shifts by a register, or if an unused field is not 0.
	 * `movs pc, lr` and the like return from an exception. */
	if (is_shifted_by_register || unused || (op->d == ARM_PC && sets_flags))
		arm_insn_step(insn);
	else
		insn->kind = INSN_EMULATE;
}

static bool names_pc(uint32_t word)
{
	return BITS(word, 0, 4) == ARM_PC || BITS(word, 8, 4) == ARM_PC || BITS(word, 12, 4) == ARM_PC ||
	       BITS(word, 16, 4) == ARM_PC;
}

/* Decodes multiplications, exclusive accesses and swaps, in which bits 7 to 4 are 1001. */
static void decode_multiply(struct insn *insn, uint32_t word)
{
	/* ldrex and strex are not copied, because a stop between them clears the exclusive monitor. lda and stl do
	 * not use the monitor. */
	const bool is_exclusive = BITS(word, 23, 5) == 3;

	if (is_exclusive ? BITS(word, 8, 4) != 0xc : names_pc(word))
		arm_insn_step(insn);
}

/* Decodes media instructions. In many of them the pc's number means "no register": in the third operand of products,
 * the last operand of bfc, the first operand of extensions. */
static void decode_media(struct insn *insn, uint32_t word)
{
	const unsigned what = BITS(word, 20, 5);
	const bool is_product = what >> 3 == 2 || what == 0x18, is_bfc = what >> 1 == 0xe;
	const bool has_third = what == 0x14 || (what == 0x15 && BITS(word, 6, 2) == 3); /* smlald; smmls */
	const bool has_first = what <= 8 && !(what == 8 && BITS(word, 4, 4) == 7);

	if ((BITS(word, 0, 4) == ARM_PC && !is_bfc) || (BITS(word, 16, 4) == ARM_PC && (is_product || has_first)) ||
	    (BITS(word, 12, 4) == ARM_PC && (!is_product || has_third)) || (BITS(word, 8, 4) == ARM_PC && is_product))
		arm_insn_step(insn);
}

static bool is_nop(uint32_t word)
{
	return word == 0xe1a00000 || word == 0xe320f000; /* mov r0, r0; nop */
}

/* Decodes instructions with 0 in bits 27 and 26. */
static void decode_general(struct insn *insn, struct arm_op *op, uint32_t word)
{
	const bool is_immediate = BIT(word, 25), is_special = BITS(word, 23, 2) == 2 && !BIT(word, 20);

	if (is_nop(word)) {
		arm_insn_emulated(insn, op, OP_NOP);
		insn->pc_only = true;
	} else if (is_immediate && is_special) { /* movw, movt; msr, hints */
		if (BIT(word, 21) ? BITS(word, 16, 4) && sets_order(word) : BITS(word, 12, 4) == ARM_PC)
			arm_insn_step(insn);
	} else if (!is_immediate && BIT(word, 7) && BIT(word, 4)) {
		if (BITS(word, 5, 2))
			decode_extra(insn, op, word);
		else
			decode_multiply(insn, word);
	} else if (is_special) {
		if (!BIT(word, 7))
			decode_miscellaneous(insn, op, word);
		else if (names_pc(word)) /* smulxy and the like */
			arm_insn_step(insn);
	} else {
		decode_data(insn, op, word);
	}
}

/* Decodes instructions without a condition: blx, which is emulated, and others, which are copied or stepped. */
static void decode_unconditional(struct insn *insn, struct arm_op *op, uint32_t word)
{
	op->condition = ARM_ALWAYS;
	if (BITS(word, 25, 3) == 5)
		decode_branch(insn, op, word, true);
	else if ((word & 0xfffffdffu) == 0xf1010000u || BITS(word, 25, 3) == 4)
		arm_insn_step(insn); /* rfe, srs; setend: the jump back would read its address in the new byte order */
	else if ((word & 0xff1f0000u) == 0xf40f0000u)
		arm_insn_step(insn); /* vld1 and others, with the pc as base */
	else
		arm_decode_coprocessor(insn, op, word);
}

void arm_decode_a32(struct insn *insn, struct arm_op *op, uint32_t word)
{
	op->condition = (uint8_t)(word >> 28);
	if (op->condition == 15) {
		decode_unconditional(insn, op, word);
		return;
	}
	switch (BITS(word, 25, 3)) {
	case 0:
	case 1:
		decode_general(insn, op, word);
		break;
	case 2:
		arm_insn_decode_single(insn, op, word);
		break;
	case 3:
		if (BIT(word, 4))
			decode_media(insn, word);
		else
			arm_insn_decode_single(insn, op, word);
		break;
	case 4:
		arm_insn_decode_many(insn, op, word);
		break;
	case 5:
		decode_branch(insn, op, word, false);
		break;
	case 6:
		arm_decode_coprocessor(insn, op, word);
		break;
	default:
		insn->is_syscall = BIT(word, 24);
		arm_decode_coprocessor(insn, op, word);
		break;
	}
}
