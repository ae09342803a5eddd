/* Parts of struct arch (arch.h): where functions keep arguments, return addresses and frames. */
#ifndef FT_ARCH_STACK_H
#define FT_ARCH_STACK_H

#include "arch/arch_registers.h"

#include <stdbool.h>
#include <stdint.h>

/* The calling convention for integers and pointers: where arguments, the result and the return address are. struct
 * arch_abi has the places of all types. Source: the procedure call standard of the processor's ABI. */
struct arch_convention {
	/* The integer arguments at a function's entry. The first ones are in the registers with these indexes in
	 * struct arch_regs. Further ones are on the stack, from sp + argument_stack bytes on, each with the size of a
	 * pointer. */
	const unsigned char *argument_words;
	unsigned char argument_registers, argument_stack;
	/* Returns a function's result when the function has returned. */
	uint64_t (*result)(const struct arch_regs *regs);
	/* Gets the return address at a function's entry. Returns true if *value is the return address, from a
	 * register. Returns false if *value is the address in memory at which the return address is. */
	bool (*return_address)(const struct arch_regs *regs, uint64_t *value);
	/* Returns the value of sp after the return of a function that was entered with these registers, as far as
	 * the ABI defines it (x86: sp + pointer size). */
	uint64_t (*return_sp)(const struct arch_regs *regs);
	/* Number of bytes by which sp may be higher than return_sp(), because the function pops the address of the
	 * struct that it returns (i386's psABI, "Functions Returning Structures or Unions"). 0: none. */
	unsigned char return_pops;
};

/* How to find out whether a process has a user shadow stack. */
struct arch_shadow_stack {
	/* The name of a line in /proc/PID/status, and the word in it if the process has a shadow stack. NULL: the
	 * kernel prints no such line, and only `hwcap` shows whether processes may have shadow stacks. */
	const char *line, *word;
	/* The bit of AT_HWCAP that is set if this machine has shadow stacks; 0: there is no such bit. If the bit is set
	 * and `line` is NULL, any process may have a shadow stack at any time. */
	uint64_t hwcap;
};

/* How functions use the stack. Source: the processor's ABI. */
struct arch_stack {
	unsigned alignment;    /* alignment of sp at calls, in bytes */
	unsigned red_zone;     /* number of bytes below sp that a function may use without moving sp */
	bool pushes_arguments; /* true if calls push arguments, so that sp differs between the calls in a function */
};

/* Unwinding, apart from the registers (struct arch_dwarf). Source: the processor's ELF ABI. */
struct arch_unwind {
	/* The type of the segment with an index of functions and their unwinding instructions (PT_ARM_EXIDX); 0:
	 * none. */
	unsigned index_segment;
	bool libunwind_numbers; /* true if libunwind's register numbers differ from DWARF's */
	/* Returns a return address without bits that the program may have added (AArch64's pointer authentication
	 * code). NULL if return addresses contain no such bits. */
	uint64_t (*strip)(uint64_t return_address);
};

/* The registers, by their DWARF numbers. */
struct arch_dwarf {
	unsigned registers; /* number of registers */
	uint64_t (*get)(const struct arch_regs *regs, unsigned number);
	unsigned sp, pc;
	/* Number of the frame pointer, if its value is always the address of two words, which are the caller's frame
	 * pointer and the return address, and if the caller's sp is the address after them. 0: there is no frame
	 * pointer, or the words may be elsewhere in the frame. */
	unsigned frame;
	/* A mask of the registers by which code addresses its frame: sp, and those that compilers use as frame
	 * pointers. */
	uint64_t frames;
	/* A mask of the registers that functions preserve according to the procedure call standard. */
	uint64_t preserved;
	unsigned link; /* the register that contains a call's return address; 0: the return address is on the stack */
};

#endif
