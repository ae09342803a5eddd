/* Where calls go to, for the ports of x86: through procedure linkage, read from the code alone. */
#include "config.h"
#include "arch/x86_insn.h"

#include <Zydis/Zydis.h>
#include <string.h>

#define INSNS_MAX 24    /* from a direct call to the indirect jump */
#define CODE_PAGE 4096u /* what is behind such a boundary may not be mapped */

static uint64_t displaced(uint64_t from, const unsigned char *displacement)
{
	int32_t distance;

	memcpy(&distance, displacement, sizeof(distance));
	return from + (uint64_t)(int64_t)distance;
}

static bool decode_at(uint64_t address, const struct arch_memory *code, ZydisDecodedInstruction *z)
{
	const size_t in_page = CODE_PAGE - address % CODE_PAGE;
	unsigned char bytes[ARCH_INSN_MAX];
	size_t size = sizeof(bytes);
	ZydisDecoder decoder;
	ZydisDecoderContext context;

	if (code->read(code->context, address, bytes, size)) {
		if (in_page >= size || code->read(code->context, address, bytes, in_page))
			return false;
		size = in_page;
	}
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &context, bytes, size, z));
}

/* Whether what follows an instruction is always what runs next. */
static bool falls_through(const ZydisDecodedInstruction *z)
{
	switch (z->meta.category) {
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_SYSTEM:
		return false;
	default:
		return z->meta.branch_type == ZYDIS_BRANCH_TYPE_NONE;
	}
}

/* jmp *x(%rip) */
static bool is_slot_jump(const ZydisDecodedInstruction *z)
{
	return z->mnemonic == ZYDIS_MNEMONIC_JMP && z->meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR &&
	       !z->raw.imm[0].is_relative && z->address_width == 64 && z->raw.modrm.mod == 0 && z->raw.modrm.rm == 5;
}

/* The slot of the indirect jump that code comes to in any case. */
static bool jump_slot(uint64_t address, const struct arch_memory *code, uint64_t *slot)
{
	ZydisDecodedInstruction z;

	for (unsigned n = 0; n < INSNS_MAX && decode_at(address, code, &z); n++) {
		const uint64_t next = address + z.length;

		if (is_slot_jump(&z)) {
			*slot = next + (uint64_t)z.raw.disp.value;
			return true;
		}
		if (z.mnemonic == ZYDIS_MNEMONIC_JMP && z.raw.imm[0].is_relative)
			address = next + (uint64_t)z.raw.imm[0].value.s;
		else if (falls_through(&z))
			address = next;
		else
			return false;
	}
	return false;
}

/* call x: e8 and four bytes; call *x(%rip): ff 15 and four. */
bool x86_call_slot(uint64_t return_address, const struct arch_memory *code, uint64_t *slot)
{
	unsigned char call[5], before;

	if (code->read(code->context, return_address - sizeof(call), call, sizeof(call)))
		return false;
	if (call[0] == 0xe8)
		return jump_slot(displaced(return_address, call + 1), code, slot);
	if (call[0] != 0x15 || code->read(code->context, return_address - sizeof(call) - 1, &before, 1) ||
	    before != 0xff)
		return false;
	*slot = displaced(return_address, call + 1);
	return true;
}
