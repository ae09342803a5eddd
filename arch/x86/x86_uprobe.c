/* Where the kernel can probe a function cheaply. Under a probe it emulates some instructions, in a tenth of the time
 * that others take, which it executes out of line with a single step. Source: arch/x86/kernel/uprobes.c,
 * branch_setup_xol_ops() and push_setup_xol_ops(). */
#include "config.h"
#include "arch/x86/x86_insn.h"

#include <Zydis/Zydis.h>

#define SITE_MAX 64 /* a probe is at most this many bytes after the function's entry */

static bool decode_whole(const unsigned char *code, size_t size, ZydisDecodedInstruction *z,
			 ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT])
{
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, size, z, operands));
}

static bool kernel_emulates(const ZydisDecodedInstruction *z, const unsigned char *code)
{
	const unsigned char first = code[0];

	/* push, with no other prefix than the one for r8 to r15 */
	if ((first & 0xf8) == 0x50 || (first == 0x41 && z->length == 2 && (code[1] & 0xf8) == 0x50))
		return true;
	/* nop, call, jumps, and conditional jumps */
	return first == 0x90 || first == 0xe8 || first == 0xe9 || first == 0xeb || (first & 0xf0) == 0x70 ||
	       (first == 0x0f && (code[1] & 0xf0) == 0x80);
}

/* Returns true if the instruction changes neither memory, sp, rbp nor a register with one of the arguments, and the
 * next instruction follows it. */
static bool keeps_call(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *operands, unsigned arguments)
{
	if (z->meta.branch_type != ZYDIS_BRANCH_TYPE_NONE)
		return false;
	for (unsigned i = 0; i < z->operand_count; i++) {
		const ZydisDecodedOperand *operand = &operands[i];

		if (!(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
			return false;
		switch (ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand->reg.value)) {
		case ZYDIS_REGISTER_RSP:
		case ZYDIS_REGISTER_RBP:
			return false;
		case ZYDIS_REGISTER_RDI:
			if (arguments > 0)
				return false;
			break;
		case ZYDIS_REGISTER_RSI:
			if (arguments > 1)
				return false;
			break;
		case ZYDIS_REGISTER_RDX:
			if (arguments > 2)
				return false;
			break;
		default:
			break;
		}
	}
	return true;
}

/* Returns true if code of the function may jump to a place in (0, last]: the probe there would see more than calls. */
static bool is_jumped_to(const unsigned char *code, size_t size, size_t last)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;

	for (size_t at = 0; last && at < size; at += z.length) {
		if (!decode_whole(code + at, size - at, &z, operands))
			return true;
		if (z.meta.branch_type == ZYDIS_BRANCH_TYPE_NONE || !z.raw.imm[0].is_relative)
			continue;
		const int64_t target = (int64_t)(at + z.length) + z.raw.imm[0].value.s;

		if (target > 0 && target <= (int64_t)last)
			return true;
	}
	return false;
}

bool x86_64_uprobe_site(const unsigned char *code, size_t size, unsigned arguments, size_t *offset)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;

	for (size_t at = 0; at < size && at < SITE_MAX; at += z.length) {
		if (!decode_whole(code + at, size - at, &z, operands))
			return false;
		if (kernel_emulates(&z, code + at)) {
			*offset = at;
			return !is_jumped_to(code, size, at);
		}
		if (!keeps_call(&z, operands, arguments))
			return false;
	}
	return false;
}

/* Only common instructions qualify: moves, arithmetic, comparisons, lea and endbr64. */
bool x86_64_uprobe_can_step(const unsigned char *code, size_t size)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;

	if (!decode_whole(code, size, &z, operands) || (z.attributes & (ZYDIS_ATTRIB_HAS_LOCK | ZYDIS_ATTRIB_HAS_REP)))
		return false;
	return z.mnemonic == ZYDIS_MNEMONIC_MOV || z.mnemonic == ZYDIS_MNEMONIC_MOVZX ||
	       z.mnemonic == ZYDIS_MNEMONIC_MOVSXD || z.mnemonic == ZYDIS_MNEMONIC_LEA ||
	       z.mnemonic == ZYDIS_MNEMONIC_ENDBR64 || z.meta.category == ZYDIS_CATEGORY_BINARY ||
	       z.meta.category == ZYDIS_CATEGORY_LOGICAL;
}

/* Before Linux 6.11 the trampoline is an int3. Since then it pushes rax, rcx and r11, and makes a system call, which
 * pops them and pushes them again, and returns rax: arch/x86/kernel/uprobes.c, uretprobe_trampoline_entry. */
void x86_64_leave_trampoline(struct arch_regs *regs, uint64_t trampoline, bool was_called,
			     const uint64_t top[ARCH_TRAMPOLINE_WORDS])
{
	if (regs->words[X86_RIP] == trampoline + 1)
		return;
	regs->words[X86_R11] = top[0];
	regs->words[X86_RCX] = top[1];
	if (!was_called)
		regs->words[X86_RAX] = top[2];
	regs->words[X86_RSP] += ARCH_TRAMPOLINE_WORDS * sizeof(top[0]);
}
