/* Parts of struct arch (arch.h): a task's registers, and the states in which a processor runs code. */
#ifndef FT_ARCH_REGISTERS_H
#define FT_ARCH_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A register set as PTRACE_GETREGSET(NT_PRSTATUS) returns it: in `words`, or in `narrow` if registers have 32 bits. */
struct arch_regs {
	union {
		uint64_t words[36];
		uint32_t narrow[72];
	};
};

/* The registers of a stopped task: how ptrace reads and writes them, and which of them are the pc and sp. The functions
 * use only `regs`, and cannot fail. Source: the kernel's asm/ptrace.h. */
struct arch_registers {
	size_t size; /* number of bytes that PTRACE_GETREGSET(NT_PRSTATUS) returns */
	int getregs; /* a ptrace request that returns the same, but takes a sixth less time; 0: there is none */
	/* The offset of the pc for PTRACE_POKEUSER; -1 if the tracer must write all registers instead. */
	long pc_offset;
	uint64_t (*pc)(const struct arch_regs *regs);
	void (*set_pc)(struct arch_regs *regs, uint64_t pc);
	uint64_t (*sp)(const struct arch_regs *regs);
	void (*set_sp)(struct arch_regs *regs, uint64_t sp);
	/* Returns true if the task runs code of another processor mode than the program's (x86's 32-bit and 64-bit
	 * segments, entered by a far call). NULL: there are no other modes. */
	bool (*other_mode)(const struct arch_regs *regs);
};

/* The states in which a processor runs code (ARM's A32 and Thumb). All fields are 0 and NULL if there is one state. */
struct arch_code_state {
	/* These bits in function pointers, symbols and return addresses contain the state, and the other bits the
	 * address of the code. The addresses that registers.pc and registers.set_pc use, insn.address, and the
	 * addresses of slots do not have these bits, because a task that the tracer moves keeps its state. The
	 * addresses that breakpoint.encode, breakpoint.entry, code.follows_call and insns.decode get have them. */
	uint64_t bits;
	/* Returns the task's state as these bits; NULL if there is one state. */
	uint64_t (*get)(const struct arch_regs *regs);
	/* Returns true if the next instruction is in a block (Thumb's IT block) in which each instruction advances a
	 * state of the processor. Such an instruction cannot be executed as a copy, because the jump after the copy
	 * would advance the state, too. insns.emulate can execute it: it advances the state, and skips the instruction
	 * if its condition is false. NULL: there are no such blocks. */
	bool (*is_in_block)(const struct arch_regs *regs);
};

#endif
