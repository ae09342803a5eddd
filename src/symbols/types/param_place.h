/* Where parameters are at a function's entry, as its debug information says. */
#ifndef FT_SYMBOLS_TYPES_PARAM_PLACE_H
#define FT_SYMBOLS_TYPES_PARAM_PLACE_H

#include "symbols/types/type_reader.h"

/* Of the function. */
struct param_entry {
	Dwarf_Addr address;
	bool frame_is_cfa;       /* what is relative to the frame is relative to the CFA */
	unsigned frame_register; /* DWARF's number of the one that locations in the frame are relative to; UINT32_MAX */
	bool is_gcc;             /* GCC made it; other compilers are, or share the rules of, LLVM */
	bool is_optimised;       /* grows true with what is seen of the parameters, too */
	bool is_own;             /* the compiler says that its arguments are not where the ABI puts them */
};

/* Of a function that begins at that address. */
void entry_read(Dwarf_Die *function, Dwarf_Addr address, struct param_entry *entry);
/* Fills in the parameter's place as the debug information says it: PLACE_NOWHERE if it has none at the entry,
 * PLACE_UNKNOWN if what is said is not understood or holds later only. */
void param_place_read(struct type_reader *reader, struct param_entry *entry, Dwarf_Die *die,
		      struct signature_param *param);
/* Of an optimised function of LLVM: whether debug information shows that it uses what is passed for the parameter. It
 * fills in param->registers. */
bool param_is_proved(const struct param_entry *entry, Dwarf_Die *die, struct signature_param *param);

#endif
