/* Reads where parameters are at a function's entry, from its debug information. */
#ifndef FT_SYMBOLS_TYPES_PARAM_PLACE_H
#define FT_SYMBOLS_TYPES_PARAM_PLACE_H

#include "symbols/types/type_reader.h"

/* A function, as far as the places of its parameters depend on it. */
struct param_entry {
	Dwarf_Addr address;
	bool frame_is_cfa;       /* locations in the frame are relative to the CFA */
	unsigned frame_register; /* DWARF number; locations in the frame are relative to it; UINT32_MAX: none */
	bool is_gcc;             /* compiled by GCC; other compilers are LLVM, or follow its rules */
	bool is_optimised;       /* also set when the places of parameters show it */
	bool is_own;             /* debug information says that its arguments are not where the ABI puts them */
};

/* Fills in *entry for a function that begins at this address. */
void entry_read(Dwarf_Die *function, Dwarf_Addr address, struct param_entry *entry);
/* Fills in the parameter's place as debug information says it: PLACE_NOWHERE if there is none at the entry,
 * PLACE_UNKNOWN if it is not understood or valid only later. */
void param_place_read(struct type_reader *reader, struct param_entry *entry, Dwarf_Die *die,
		      struct signature_param *param);
/* Whether debug information shows that a function, which LLVM has optimised, uses what is passed for the parameter.
 * Fills in param->registers. */
bool param_is_proved(const struct param_entry *entry, Dwarf_Die *die, struct signature_param *param);

#endif
