/* The part of struct arch (arch.h) for reading a program's code. */
#ifndef FT_ARCH_CODE_H
#define FT_ARCH_CODE_H

#include "arch/arch_memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct path_state; /* arch/path.h */
struct path_step;

#define ARCH_CALL_BYTES 16 /* number of bytes before a return address in which a call is searched for */

/* The kind of call before a return address. */
enum arch_call {
	CALL_NONE,     /* no call */
	CALL_FIXED,    /* the same function each time: the target is constant, or is in a word at a constant address */
	CALL_COMPUTED, /* a call through a register or a pointer, which may call another function each time */
	CALL_SYSTEM,   /* a call of the kernel's entry code, before which compilers need not align sp */
};

/* What the bytes of a program's code mean: calls before return addresses, and changes of sp and of the registers on a
 * path. `size`: the number of bytes in `code`. Source: the processor's manual, and the code that compilers generate. */
struct arch_code {
	/* Returns the kind of call before a return address, from the `size` bytes before that address. If these bytes
	 * can be decoded in two ways, returns CALL_COMPUTED, which is the safe answer. */
	enum arch_call (*follows_call)(uint64_t address, const unsigned char *code, size_t size);
	/* Finds the GOT slot whose word is the target of the call before a return address. The call is an indirect
	 * call through the slot, or a direct call of code that continues, by direct jumps and straight code, to an
	 * indirect jump through the slot (an entry of the PLT, a function that ends with a jump). Returns false if
	 * there is no slot, or if its address is unknown. Uses only read() of `code`. got: the address of the object's
	 * global offset table, which position independent code has in a register; 0 if unknown. NULL: the slot is
	 * never known. */
	bool (*call_slot)(uint64_t return_address, uint64_t got, const struct arch_memory *code, uint64_t *slot);
	/* The first characters of the names of functions that compilers generate to get the pc, and that most
	 * functions call; NULL: there are none. */
	const char *pc_thunk;
	/* Returns true if sp, after `size` bytes of code, is not its first value plus a constant, because the code has
	 * loaded, copied or rounded sp. *ever: true if this happens anywhere in the code. The code after an
	 * unconditional jump is reached only by other jumps. There, sp is assumed to be its first value plus a
	 * constant again. */
	bool (*sets_sp)(const unsigned char *code, size_t size, bool *ever);
	/* Follows the instruction at the state's address. Sets *state to the state after the instruction, or, if *step
	 * says that the instruction is a return, to the state in the caller (arch/path.h). Returns false if the bytes
	 * are not an instruction. */
	bool (*follow)(struct path_state *state, const unsigned char *code, size_t size, struct path_step *step);
	/* Returns true if a function may begin at an address, according to its first instructions and the
	 * ARCH_CALL_BYTES before them. Also returns true for many addresses inside functions. NULL if dwarf.link is not
	 * 0, because saving that register then shows where functions begin. */
	bool (*may_begin)(uint64_t address, const unsigned char *code, size_t size);
};

#endif
