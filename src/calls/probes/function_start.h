/* Finds out whether a code address that a user has given is the start of a function. */
#ifndef FT_CALLS_PROBES_FUNCTION_START_H
#define FT_CALLS_PROBES_FUNCTION_START_H

#include "ptrace/tracee.h"

enum place {
	PLACE_NO_CODE,
	PLACE_INSIDE, /* inside a function */
	PLACE_START,  /* the first instruction of a function */
	PLACE_UNKNOWN,
};

/* Returns what the symbols and call frame information of the object say about a mapped address. *start: for
 * PLACE_INSIDE, the address of the function that contains this address. *symbol: symbol of the function that begins at
 * the address, valid as long as the object's file; NULL: unknown. */
enum place place_of(struct process *p, const struct object *object, uint64_t address, uint64_t *start,
		    const struct elf_symbol **symbol);

/* Returns true if an address with this place is probed. is_meant: the user gave the address for this program. In
 * another program, which the process runs after an execve, only an address that certainly is the start of a function is
 * probed. */
static inline bool place_is_probed(enum place place, bool is_meant)
{
	return place == PLACE_START || (place == PLACE_UNKNOWN && is_meant);
}

#endif
