/* What the ports of x86 share: the places of the registers and the handling of instructions. */
#ifndef FT_ARCH_X86_INSN_H
#define FT_ARCH_X86_INSN_H

#include "arch/arch.h"

/* The words of NT_PRSTATUS on x86-64 (struct user_regs_struct of <sys/user.h>). */
enum x86_64_word {
	X86_R15,
	X86_R14,
	X86_R13,
	X86_R12,
	X86_RBP,
	X86_RBX,
	X86_R11,
	X86_R10,
	X86_R9,
	X86_R8,
	X86_RAX,
	X86_RCX,
	X86_RDX,
	X86_RSI,
	X86_RDI,
	X86_ORIG_RAX,
	X86_RIP,
	X86_CS,
	X86_EFLAGS,
	X86_RSP,
	X86_SS,
	X86_FS_BASE,
	X86_GS_BASE,
	X86_DS,
	X86_ES,
	X86_FS,
	X86_GS,
	X86_64_WORDS,
};

/* The highest user address: of a processor with five levels of page tables, and of all. */
#define X86_64_ADDRESS_MAX    0x00ffffffffffefffu
#define X86_64_ADDRESS_COMMON 0x00007fffffffefffu

extern const struct arch arch_x86_64;

/* The words of the general registers as the processor numbers them. */
extern const unsigned char x86_register_words[16];

/* 64-bit code; contracts as those of struct arch's functions of these names. */
bool x86_decode(uint64_t address, const unsigned char *code, size_t size, bool shadow_stack, struct insn *insn);
bool x86_call_slot(uint64_t return_address, const struct arch_memory *code, uint64_t *slot);
bool x86_sets_sp(const unsigned char *code, size_t size, bool *ever);
int x86_relocate(const struct insn *insn, uint64_t slot, struct insn_copy *copy);
int x86_emulate(const struct insn *insn, struct arch_regs *regs, const struct arch_memory *mem);

#endif
