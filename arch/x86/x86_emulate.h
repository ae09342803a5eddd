/* Emulates common instructions of x86 that otherwise run from a copy. */
#ifndef FT_ARCH_X86_X86_EMULATE_H
#define FT_ARCH_X86_X86_EMULATE_H

#include <Zydis/Zydis.h>

#include "arch/x86/x86_insn.h"

/* Returns true if the decoder is wrong about a memory operand: if the prefixes 67h and REX.B, and a SIB byte, encode a
 * displacement without a base, Zydis 4.0 reports 13 as the base register. */
bool x86_is_misread(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *operand);

/* Returns true if x86_emulate_copied() can execute this instruction. It cannot execute branches, except returns.
 * With a shadow stack it cannot execute returns either, because they pop the shadow stack, too. */
bool x86_can_emulate(const struct x86_mode *mode, const ZydisDecodedInstruction *z, const ZydisDecodedOperand *operands,
		     bool shadow_stack);

/* Executes, on the registers, an instruction that x86_can_emulate() has accepted. Flags that the processor leaves
 * undefined are not changed, except the carry after some shifts. Returns 0, or -errno with nothing changed: an error of
 * `mem`, -EFAULT for a return that would fault, or -ENOTSUP if the program would notice more than the result (trap
 * flag, alignment checks). */
int x86_emulate_copied(const struct x86_mode *mode, const struct insn *insn, struct arch_regs *regs,
		       const struct arch_memory *mem);

#endif
