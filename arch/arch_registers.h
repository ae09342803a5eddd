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

#endif
