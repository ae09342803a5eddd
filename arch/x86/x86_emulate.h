/* Emulation of the common instructions of x86 that otherwise run from a copy. */
#ifndef FT_ARCH_X86_X86_EMULATE_H
#define FT_ARCH_X86_X86_EMULATE_H

#include <Zydis/Zydis.h>

#include "arch/x86/x86_insn.h"

/* Whether the decoder is wrong about a memory operand: Zydis 4.0 takes 13 for a base register where 67h, REX.B and a
 * SIB byte mean a displacement without one. */
bool x86_is_misread(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *operand);

/* Whether x86_emulate_copied() does this instruction, which is no branch but a return at most. With a shadow
 * stack it does no returns: they pop that stack too. */
bool x86_can_emulate(const struct x86_mode *mode, const ZydisDecodedInstruction *z, const ZydisDecodedOperand *operands,
		     bool shadow_stack);

/* Runs such an instruction on the registers; flags that the processor leaves undefined stay as they were. 0, or -errno
 * and nothing has changed: from memory, -EFAULT for a return that would fault itself, or -ENOTSUP where more than the
 * result is to be seen (the trap flag, alignment checks). */
int x86_emulate_copied(const struct x86_mode *mode, const struct insn *insn, struct arch_regs *regs,
		       const struct arch_memory *mem);

#endif
