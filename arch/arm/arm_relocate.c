/* Decodes instructions of 32-bit ARM in both states, and makes copies of them. */
#include "config.h"
#include "arch/arm/arm_insn.h"

/* Returns true for instructions at which a program stops by itself: its own breakpoints (bkpt), hlt, udf. */
static bool arm_is_trap(const uint16_t *halves, unsigned length, bool thumb)
{
	const uint32_t word = (uint32_t)halves[1] << 16 | halves[0];

	if (!thumb) /* udf, bkpt, hlt */
		return (word & 0xfff000f0) == 0xe7f000f0 || (word & 0xfff000f0) == 0xe1200070 ||
		       (word & 0xfff000f0) == 0xe1000070;
	if (length == 2)
		return halves[0] >> 8 == 0xde || halves[0] >> 8 == 0xbe || halves[0] >> 6 == 0x2ea;
	return (halves[0] & 0xfff0) == 0xf7f0 && (halves[1] & 0xf000) == 0xa000;
}

/* Returns true for ldrex, strex, their variants for bytes, half words and pairs, and the variants with acquire and
 * release. lda and stl are not exclusive. In both states, bit 20 of the word distinguishes loads from stores. */
static bool arm_is_exclusive(uint32_t word, bool thumb)
{
	const unsigned what = word >> 4 & 15;

	if (!thumb)
		return word >> 28 != 15 && (word & 0x0f8000f0) == 0x01800090 && (word >> 8 & 15) != 12;
	return (word & 0xffe00000) == 0xe8400000 ||
	       ((word & 0xffe00000) == 0xe8c00000 && what >= 4 && (what < 8 || what > 10));
}

static void decode_one(struct insn *insn, struct arm_op *op, const uint16_t *halves)
{
	if (!(op->flags & OP_THUMB))
		arm_decode_a32(insn, op, (uint32_t)halves[1] << 16 | halves[0]);
	else if (insn->length == 2)
		arm_decode_t16(insn, op, halves[0]);
	else
		arm_decode_t32(insn, op, halves[0], halves[1]);
}

/* Returns true if the code may continue at the next instruction. */
static bool may_fall_through(const struct insn *insn, const struct arm_op *op)
{
	const bool is_branch = op->kind == OP_BRANCH || op->kind == OP_BRANCH_REGISTER || op->kind == OP_TABLE_BRANCH;

	return insn->kind != INSN_EMULATE || !is_branch || op->condition != ARM_ALWAYS;
}

/* Gets the first instruction of the code. Returns its length in bytes, or 0 if `code` does not contain all of it. */
static unsigned halves_of(const unsigned char *code, size_t size, bool thumb, uint16_t halves[2])
{
	halves[0] = halves[1] = 0;
	if (size < (thumb ? 2 : 4))
		return 0;
	memcpy(halves, code, size < 4 ? 2 : 4);
	const unsigned length = thumb && halves[0] >> 11 < 0x1d ? 2 : 4;

	return size < length ? 0 : length;
}

/* Returns true if the code begins at a store-exclusive, or between a load-exclusive and its store. As on AArch64, a
 * stop there makes the store fail, perhaps in each try. */
static bool arm_is_between_exclusives(uint64_t address, const unsigned char *code, size_t size)
{
	const bool thumb = address & 1;
	uint16_t halves[2];
	unsigned length;

	for (size_t at = 0; at < size && (length = halves_of(code + at, size - at, thumb, halves)); at += length) {
		struct insn insn = {.kind = INSN_COPY, .length = (unsigned char)length, .address = address + at};
		struct arm_op op = {.condition = ARM_ALWAYS, .flags = thumb ? OP_THUMB : 0};
		const uint32_t word = (uint32_t)halves[!thumb] << 16 | halves[thumb];

		if (length == 4 && arm_is_exclusive(word, thumb))
			return !(word >> 20 & 1);
		decode_one(&insn, &op, halves);
		if (!may_fall_through(&insn, &op))
			return false;
	}
	return false;
}

bool arm_read(uint64_t address, const unsigned char *code, size_t size, struct insn *insn)
{
	const bool thumb = address & 1;
	struct arm_op op = {.condition = ARM_ALWAYS, .flags = thumb ? OP_THUMB : 0};
	uint16_t halves[2];
	const unsigned length = halves_of(code, size, thumb, halves);

	*insn = (struct insn){.kind = INSN_COPY, .length = (unsigned char)length, .address = address & ~1ull};
	/* A32 code is at multiples of four, so a symbol with another address does not name A32 code. */
	if (!length || (!thumb && address & 3) || arm_is_trap(halves, length, thumb))
		return false;
	memcpy(insn->bytes, code, length);
	decode_one(insn, &op, halves);
	insn->can_emulate &= insn->kind == INSN_COPY;
	memcpy(insn->detail, &op, sizeof(op));
	return true;
}

bool arm_decode(uint64_t address, const unsigned char *code, size_t size, bool shadow_stack, struct insn *insn)
{
	(void)shadow_stack;
	return arm_read(address, code, size, insn) && !arm_is_between_exclusives(address, code, size);
}

static void put_insn(unsigned char *to, uint32_t word, bool thumb)
{
	if (thumb) {
		arm_put_half(to, word >> 16);
		arm_put_half(to + 2, word);
	} else {
		arm_put_word(to, word);
	}
}

#define LITERAL_AT 16 /* offset of the literal in a slot, in bytes */

/* Makes a copy: the instruction, a load of the pc from the word at offset 8, this word (the address of the next
 * instruction), and the literal, if there is one, at LITERAL_AT. The load relies on aligned slots. */
int arm_relocate(const struct insn *insn, uint64_t slot, struct insn_copy *copy)
{
	const struct arm_op op = arm_op_of(insn);
	const bool thumb = op.flags & OP_THUMB;
	const unsigned at = insn->length;
	uint32_t word;

	(void)slot;
	*copy = (struct insn_copy){.size = 12, .resume = insn->length};
	memcpy(copy->bytes, insn->bytes, insn->length);
	if (op.kind == OP_LITERAL) {
		/* The unit of the load's offset field is a word, or a half word for literals of 2 bytes. Bit 23 means
		 * that the offset is added. */
		const uint32_t offset = LITERAL_AT - (thumb ? 4 : 8);

		word = (op.immediate & ~0xffu) | 1u << 23 | offset / (insn->literal_size == 2 ? 2 : 4);
		put_insn(copy->bytes, word, thumb);
		memcpy(copy->bytes + LITERAL_AT, insn->literal, insn->literal_size);
		copy->size = (unsigned char)(LITERAL_AT + insn->literal_size);
	}
	if (thumb)
		put_insn(copy->bytes + at, 0xf8dff000u | (8 - ((at + 4) & ~3u)), true);
	else
		put_insn(copy->bytes + at, 0xe51ff004u, false);
	arm_put_word(copy->bytes + 8, ((uint32_t)insn->address + insn->length) | thumb);
	return 0;
}
