/* Parts of struct arch (arch.h): where functions keep arguments, return addresses and frames. */
#ifndef FT_ARCH_STACK_H
#define FT_ARCH_STACK_H

#include "arch/arch_registers.h"

#include <stdbool.h>
#include <stdint.h>

/* How to find out whether a process has a user shadow stack. */
struct arch_shadow_stack {
	/* The name of a line in /proc/PID/status, and the word in it if the process has a shadow stack. NULL: the
	 * kernel prints no such line, and only `hwcap` shows whether processes may have shadow stacks. */
	const char *line, *word;
	/* The bit of AT_HWCAP that is set if this machine has shadow stacks; 0: there is no such bit. If the bit is set
	 * and `line` is NULL, any process may have a shadow stack at any time. */
	uint64_t hwcap;
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
