/* Where parameters are at a function's entry, as its debug information says. */
#ifndef FT_SYMBOLS_PARAM_PLACE_H
#define FT_SYMBOLS_PARAM_PLACE_H

#include "symbols/type_reader.h"

/* Of the function. */
struct entry {
	Dwarf_Addr address;
	bool frame_is_cfa;  /* what is relative to the frame is relative to the CFA */
	bool has_all_calls; /* what compilers say of calls only when they optimise */
	bool is_optimised;  /* grows true with what is seen of the parameters, too */
	bool is_own;        /* the compiler has left the ABI, and says so */
};

/* Of a function that begins at that address. */
void entry_read(Dwarf_Die *function, Dwarf_Addr address, struct entry *entry);
/* Fills in the parameter's place: PLACE_NOWHERE if it has none, PLACE_BY_ABI if what is said of it is not understood or
 * holds later only. */
void param_place_read(struct type_reader *reader, struct entry *entry, Dwarf_Die *die, struct signature_param *param);

#endif
