/* Finds how x86 code changes the stack pointer. */
#include "config.h"
#include "arch/x86/x86_insn.h"

#include <Zydis/Zydis.h>

static bool x86_stack_is_sp(const struct x86_mode *mode, const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       ZydisRegisterGetLargestEnclosing(mode->machine, operand->reg.value) == mode->sp;
}

/* Returns true if the instruction sets sp to a value that is not sp plus a constant. */
static bool x86_stack_gives_value(const struct x86_mode *mode, const ZydisDecodedInstruction *z,
				  const ZydisDecodedOperand *operands)
{
	bool is_written = false;

	for (unsigned i = 0; i < z->operand_count_visible; i++)
		is_written |=
			(operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) && x86_stack_is_sp(mode, &operands[i]);
	if (!is_written)
		return false;
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		return operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE;
	case ZYDIS_MNEMONIC_LEA:
		return operands[1].mem.base != mode->sp || operands[1].mem.index != ZYDIS_REGISTER_NONE;
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
		return false;
	default:
		return true;
	}
}

static bool x86_stack_goes_elsewhere(const ZydisDecodedInstruction *z)
{
	return z->mnemonic == ZYDIS_MNEMONIC_JMP || z->mnemonic == ZYDIS_MNEMONIC_UD2 ||
	       z->mnemonic == ZYDIS_MNEMONIC_HLT || z->meta.category == ZYDIS_CATEGORY_RET;
}

bool x86_sets_sp(const struct x86_mode *mode, const unsigned char *code, size_t size, bool *ever)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction z;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	bool is_set = false;

	*ever = false;
	ZydisDecoderInit(&decoder, mode->machine, mode->stack);
	for (size_t at = 0; at < size; at += z.length) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + at, size - at, &z, operands)))
			break;
		is_set = !x86_stack_goes_elsewhere(&z) && (is_set || x86_stack_gives_value(mode, &z, operands));
		*ever |= is_set;
	}
	return is_set;
}
