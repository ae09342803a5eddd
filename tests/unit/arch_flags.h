/* The flags that an instruction leaves undefined. They may differ between two ways of running it. */
#ifndef FT_TESTS_UNIT_ARCH_FLAGS_H
#define FT_TESTS_UNIT_ARCH_FLAGS_H

#include <stdint.h>
#include <Zydis/Zydis.h>

/* Returns the flags that the Intel SDM, volume 2, leaves undefined after an instruction. Knows only instructions that
 * the tracer emulates, and shifts by immediates; for others it returns 0. */
static inline uint64_t undefined_flags(const unsigned char *bytes, size_t size)
{
	const uint64_t carry = 0x1, auxiliary = 0x10, overflow = 0x800;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;
	ZydisDecoder decoder;
	unsigned count;

#ifdef ARENA_32
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32);
#else
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
#endif
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size, &z, operands)))
		return 0;
	switch (z.mnemonic) {
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_TEST:
		return auxiliary;
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR:
		count = (unsigned)operands[1].imm.value.u & (operands[0].size == 64 ? 63 : 31);
		return !count ? 0
			      : auxiliary | (count > 1 ? overflow : 0) |
					(count >= operands[0].size && z.mnemonic != ZYDIS_MNEMONIC_SAR ? carry : 0);
	default:
		return 0;
	}
}

#endif
