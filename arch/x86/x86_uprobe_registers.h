/* The registers of a task, as the program in the kernel sees them (src/uprobe/hot_calls.bpf.c), on x86-64. */
#ifndef FT_ARCH_X86_X86_UPROBE_REGISTERS_H
#define FT_ARCH_X86_X86_UPROBE_REGISTERS_H

#include <asm/ptrace.h>

#define TASK_PC(regs)     ((regs)->rip)
#define TASK_SP(regs)     ((regs)->rsp)
#define TASK_FRAME(regs)  ((regs)->rbp)
#define TASK_RESULT(regs) ((regs)->rax)
/* The arguments of a call, UPROBE_ARGS of them. */
#define TASK_ARGUMENTS(regs) (regs)->rdi, (regs)->rsi, (regs)->rdx
/* The registers of a struct uprobe_copy after the frame pointer, in the order of struct arch_uprobe's words. */
#define TASK_SAVED(regs) (regs)->rbx, (regs)->r12, (regs)->r13, (regs)->r14, (regs)->r15

#endif
