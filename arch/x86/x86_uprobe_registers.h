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

/* Where a signal handler's frame has the registers of the interrupted code, from sp on after the handler's return:
 * struct ucontext, arch/x86/include/uapi/asm/sigcontext.h */
#define SIGNAL_FRAME 120
#define SIGNAL_SP    160
#define SIGNAL_PC    168
/* rbx and r12 to r15, in the order of TASK_SAVED() */
#define SIGNAL_SAVED 128, 72, 80, 88, 96

#endif
