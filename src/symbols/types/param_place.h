/* Reads the places of parameters at a function's entry, from debug information. */
#ifndef FT_SYMBOLS_TYPES_PARAM_PLACE_H
#define FT_SYMBOLS_TYPES_PARAM_PLACE_H

#include "symbols/types/type_reader.h"

/* The properties of a function on which the places of its parameters depend. */
struct param_entry {
	Dwarf_Addr address;
	bool frame_is_cfa; /* locations in the frame are relative to the CFA */
	/* DWARF number of the register to which locations in the frame are relative; UINT32_MAX: none */
	unsigned frame_register;
	bool is_gcc; /* GCC has compiled the function; any other compiler is LLVM, or follows LLVM's rules */
	/* GCC describes only one place of each parameter for the whole function (-fno-var-tracking): the place to which
	 * the first instructions move the parameter. */
	bool is_untracked;
	bool is_optimised; /* the code is optimised; also set by param_place_read() */
	bool is_own;       /* debug information says that the arguments are not where the ABI puts them */
};

/* Fills in *entry for a function that begins at this address. */
void entry_read(Dwarf_Die *function, Dwarf_Addr address, struct param_entry *entry);
/* Sets the parameter's place as debug information describes it: PLACE_NOWHERE if there is none at the entry,
 * PLACE_UNKNOWN if the location is not understood, or valid only after the entry. */
void param_place_read(struct type_reader *reader, struct param_entry *entry, Dwarf_Die *die,
		      struct signature_param *param);
/* Finds out whether a function uses a parameter. Must be called only if LLVM has optimised the function, and its
 * arguments are where the ABI puts them. Returns PLACE_BY_ABI and fills in param->registers if debug information shows
 * that the function uses the argument, else PLACE_NOWHERE. Returns PLACE_UNKNOWN for a struct on the stack: debug
 * information describes it even if the function does not use it, and then callers in the same file need not store it
 * there. */
enum param_place param_place_if_used(const struct type_reader *reader, const struct param_entry *entry, Dwarf_Die *die,
				     struct signature_param *param);

#endif
