/* Instructions of 32-bit ARM in either state: decoding, and the layout of copies. */
#include "config.h"
#include "arch/arm_insn.h"

bool arm_decode(uint64_t address, const unsigned char *code, size_t size, bool shadow_stack, struct insn *insn)
{
	struct arm_op op = {.condition = ARM_ALWAYS};
	const bool thumb = address & 1;
	uint16_t halves[2] = {0};

	(void)shadow_stack;
	*insn = (struct insn){.kind = INSN_COPY, .address = address & ~1ull};
	if (size < (thumb ? 2 : 4))
		return false;
	memcpy(halves, code, size < 4 ? 2 : 4);
	insn->length = thumb && halves[0] >> 11 < 0x1d ? 2 : 4;
	if (size < insn->length)
		return false;
	memcpy(insn->bytes, code, insn->length);
	op.flags = thumb ? OP_THUMB : 0;
	if (!thumb)
		arm_decode_a32(insn, &op, (uint32_t)halves[1] << 16 | halves[0]);
	else if (insn->length == 2)
		arm_decode_t16(insn, &op, halves[0]);
	else
		arm_decode_t32(insn, &op, halves[0], halves[1]);
	insn->can_emulate &= insn->kind == INSN_COPY;
	memcpy(insn->detail, &op, sizeof(op));
	return true;
}

static void put_half(unsigned char *to, uint32_t half)
{
	to[0] = (unsigned char)half;
	to[1] = (unsigned char)(half >> 8);
}

static void put_word(unsigned char *to, uint32_t word)
{
	put_half(to, word);
	put_half(to + 2, word >> 16);
}

static void put_insn(unsigned char *to, uint32_t word, bool thumb)
{
	if (thumb) {
		put_half(to, word >> 16);
		put_half(to + 2, word);
	} else {
		put_word(to, word);
	}
}

#define LITERAL_AT 16 /* in a slot */

/* The instruction, a load of the pc from the word at 8, that word, and at LITERAL_AT a literal. Slots are aligned. */
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
		/* Up, by words or by half words. */
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
	put_word(copy->bytes + 8, ((uint32_t)insn->address + insn->length) | thumb);
	return 0;
}
