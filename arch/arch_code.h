/* The part of struct arch (arch.h) for reading a program's code. */
#ifndef FT_ARCH_CODE_H
#define FT_ARCH_CODE_H

#include "arch/arch_memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARCH_CALL_BYTES 16 /* number of bytes before a return address in which a call is searched for */

/* The kind of call before a return address. */
enum arch_call {
	CALL_NONE,     /* no call */
	CALL_FIXED,    /* the same function each time: the target is constant, or is in a word at a constant address */
	CALL_COMPUTED, /* a call through a register or a pointer, which may call another function each time */
	CALL_SYSTEM,   /* a call of the kernel's entry code, before which compilers need not align sp */
};

#endif
