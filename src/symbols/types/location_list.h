/* Checks lists of locations before libdw reads them. */
#ifndef FT_SYMBOLS_TYPES_LOCATION_LIST_H
#define FT_SYMBOLS_TYPES_LOCATION_LIST_H

#include <elfutils/libdw.h>
#include <stdbool.h>

/* Whether the location is a list, which says for parts of the function where a variable is, as in optimised code. */
bool location_is_list(Dwarf_Attribute *location);
/* Whether libdw can read the location: it is not a list, or a list of DWARF 5 that ends in its section. libdw of 32
 * bits takes the length of an expression as a signed number and reads beyond the section (0.188,
 * dwarf_getlocation_addr(), dwarf_getlocations()). Lists of earlier versions have lengths of 16 bits. */
bool location_is_sound(Dwarf_Attribute *location);

#endif
