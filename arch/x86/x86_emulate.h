/* Emulates the common instructions of x86, which otherwise run from a copy. */
#ifndef FT_ARCH_X86_X86_EMULATE_H
#define FT_ARCH_X86_X86_EMULATE_H

#include <Zydis/Zydis.h>

#include "arch/x86/x86_insn.h"

/* Whether the decoder is wrong about a memory operand: Zydis 4.0 takes 13 for a base register if 67h, REX.B and a
 * SIB byte mean a displacement without a base. */
bool x86_is_misread(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *operand);

/* Whether x86_emulate_copied() can run this instruction. Branches are not among them, except returns, and with a
 * shadow stack not those, because they pop that stack too. */
bool x86_can_emulate(const struct x86_mode *mode, const ZydisDecodedInstruction *z, const ZydisDecodedOperand *operands,
		     bool shadow_stack);

/* Runs such an instruction on the registers. Flags that the processor leaves undefined are not changed. Returns 0,
 * or -errno with nothing changed: an error of `mem`, -EFAULT for a return that would fault, or -ENOTSUP if the
 * program would notice more than the result (trap flag, alignment checks). */
int x86_emulate_copied(const struct x86_mode *mode, const struct insn *insn, struct arch_regs *regs,
		       const struct arch_memory *mem);

#endif
