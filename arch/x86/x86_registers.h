/* Locations of x86's registers in the kernel's register sets. */
#ifndef FT_ARCH_X86_X86_REGISTERS_H
#define FT_ARCH_X86_X86_REGISTERS_H

/* Indexes of the words in NT_PRSTATUS on x86-64 (struct user_regs_struct of <sys/user.h>). 32-bit code is emulated
 * on registers with this layout, too. */
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

/* Indexes of the narrow words in NT_PRSTATUS (the kernel's struct user_regs_struct32). */
enum i386_word {
	I386_EBX,
	I386_ECX,
	I386_EDX,
	I386_ESI,
	I386_EDI,
	I386_EBP,
	I386_EAX,
	I386_DS,
	I386_ES,
	I386_FS,
	I386_GS,
	I386_ORIG_EAX,
	I386_EIP,
	I386_CS,
	I386_EFLAGS,
	I386_ESP,
	I386_SS,
	I386_WORDS,
};

/* Offsets of the floating point registers in an FXSAVE area: NT_PRFPREG of x86-64 (struct user_fpregs_struct) and
 * NT_PRXFPREG of i386 (struct user_fpxregs_struct). Each register has 16 bytes; x87 registers are in the order of
 * their stack. */
#define X86_ST_AT  32
#define X86_XMM_AT 160

#endif
