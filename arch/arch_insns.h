/* Instructions that have a breakpoint, and the parts of struct arch (arch.h) for them. */
#ifndef FT_ARCH_INSNS_H
#define FT_ARCH_INSNS_H

#include "arch/arch_memory.h"
#include "arch/arch_registers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARCH_INSN_MAX       16 /* bytes of the longest instruction, rounded up */
#define ARCH_SLOT_SIZE      32 /* bytes of an out-of-line slot */
#define ARCH_BREAKPOINT_MAX 4
#define ARCH_LITERAL_MAX    16

enum insn_kind {
	INSN_COPY,    /* can be executed out of line, after relocation */
	INSN_EMULATE, /* is emulated by the tracer: jumps, calls, nops */
	INSN_STEP, /* single-stepped in place, with all other tasks stopped; no breakpoint if arch.insns.cannot_step */
};

/* A decoded instruction that has a breakpoint or will get one. `detail` is private to the port. */
struct insn {
	enum insn_kind kind;
	unsigned char length; /* length in bytes; 0: unknown to the decoder, and kind is INSN_STEP */
	unsigned char bytes[ARCH_INSN_MAX];
	uint64_t address;
	bool can_emulate; /* INSN_COPY: emulate() can execute it if no slot is free */
	bool pc_only;     /* if emulated, it changes only the pc (jump, nop), so setting the pc is enough */
	bool cannot_step; /* INSN_COPY: must not be stepped, because the stop undoes its effect (load-exclusive) */
	bool is_syscall;  /* INSN_COPY: enters the kernel; if it forks, the child returns into the copy, too */
	/* A constant near the instruction, which the instruction loads relative to the pc, so that the copy must
	 * contain it. The decoder sets its address and size. The caller, which can read the target's memory, fills
	 * in the bytes. */
	unsigned char literal_size; /* size of the constant in bytes; 0: there is none */
	unsigned char literal[ARCH_LITERAL_MAX];
	uint64_t literal_at;
	uint32_t detail[4];
	int64_t displacement;
};

/* An out-of-line copy of an instruction: the bytes that are written to its slot, which include a jump back. */
struct insn_copy {
	unsigned char bytes[ARCH_SLOT_SIZE];
	unsigned char size;
	unsigned char resume; /* offset of the jump back; a task in the copy is at offset 0 or here */
};

/* Breakpoint instructions, and the addresses at which they may be. Source: the processor's manual, and for hit_code the
 * kernel's handler of the exception. */
struct arch_breakpoint {
	/* Sets the instruction's bytes for a breakpoint at an address, and returns their number. */
	unsigned (*encode)(uint64_t address, unsigned char bytes[ARCH_BREAKPOINT_MAX]);
	int hit_code; /* the si_code of the SIGTRAP that a breakpoint raises */
	/* Another instruction of one byte that stops a thread after itself, and the si_code of its SIGTRAP; 0: none. It
	 * is for places where the kernel may have a uprobe, for which it would take the usual breakpoint. */
	unsigned char second;
	int second_code;
	/* Returns the address of the breakpoint that was hit by a task with this pc. */
	uint64_t (*hit_address)(uint64_t pc);
	/* Returns the address for a function's breakpoint: that of the function, or after its landing pad (endbr64,
	 * bti). */
	uint64_t (*entry)(uint64_t function, const unsigned char *code, size_t size);
	/* Returns true if a breakpoint at a code address would overwrite a constant in the code, or code of another
	 * state. Both occur after calls that never return. Uses only read() of `code`. NULL: compilers do not put
	 * constants into code. */
	bool (*is_constant)(uint64_t address, const struct arch_memory *code);
};

/* Executing the instruction under a breakpoint. Source: the processor's manual. */
struct arch_insns {
	/* True if the processor has no single step. Then instructions that can be neither copied nor emulated get no
	 * breakpoint. */
	bool cannot_step;
	/* Sets *insn from up to `size` bytes at `address`. If shadow_stack is true, calls and returns are not decoded
	 * as emulated instructions. Returns false if the bytes are not an instruction, or if the instruction must not
	 * get a breakpoint: it is one of the program's own breakpoints, after which the pc would not advance by
	 * itself, or it is between a load-exclusive and its store. */
	bool (*decode)(uint64_t address, const unsigned char *code, size_t size, bool shadow_stack, struct insn *insn);
	/* Makes the copy of an INSN_COPY instruction for the slot at address `slot`. Returns 0, or -ERANGE if the
	 * copy at the slot cannot reach its target. */
	int (*relocate)(const struct insn *insn, uint64_t slot, struct insn_copy *copy);
	/* Emulates an INSN_EMULATE instruction, or an INSN_COPY one with can_emulate. First reads all necessary
	 * memory, then writes to at most one address, with one call, then changes the registers. Returns 0, or
	 * -errno with nothing changed: an error of `mem`, or an error if the program would notice more than the
	 * instruction's result (x86's trap flag). */
	int (*emulate)(const struct insn *insn, struct arch_regs *regs, const struct arch_memory *mem);
};

/* Returns the original pc for a pc in a copy: the instruction's own address if it has not been executed, else the
 * address of the next instruction. */
static inline uint64_t insn_original_pc(const struct insn *insn, const struct insn_copy *copy, uint64_t slot,
					uint64_t pc)
{
	return insn->address + (pc - slot >= copy->resume ? insn->length : 0);
}

#endif
