/* Lists of locations. */
#ifndef FT_SYMBOLS_TYPES_LOCATION_LIST_H
#define FT_SYMBOLS_TYPES_LOCATION_LIST_H

#include <elfutils/libdw.h>
#include <stdbool.h>

/* Whether the location is said for parts of the function, as optimised code has it. */
bool location_is_list(Dwarf_Attribute *location);
/* Whether the location may be given to libdw: it is no list, or, of DWARF 5, a list that ends in its section. libdw of
 * 32 bits takes the length of an expression for a signed number and reads beyond all of it (0.188,
 * dwarf_getlocation_addr(), dwarf_getlocations()). Lists of earlier versions have lengths of 16 bits. */
bool location_is_sound(Dwarf_Attribute *location);

#endif
