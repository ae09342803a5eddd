/* The example port for 64-bit RISC-V, which port_riscv64.c describes. */
#ifndef FT_TESTS_PORT_RISCV64_H
#define FT_TESTS_PORT_RISCV64_H

#include "arch/arch.h"

/* The words of NT_PRSTATUS (struct user_regs_struct of <asm/ptrace.h>): the pc, then x1 to x31. */
enum { RISCV_PC = 0, RISCV_RA = 1, RISCV_SP = 2, RISCV_TP = 4, RISCV_A0 = 10, RISCV_WORDS = 32 };

extern const struct arch arch_riscv64;

#endif
