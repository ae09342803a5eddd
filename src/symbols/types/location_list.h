/* Checks lists of locations before libdw reads them. */
#ifndef FT_SYMBOLS_TYPES_LOCATION_LIST_H
#define FT_SYMBOLS_TYPES_LOCATION_LIST_H

#include <elfutils/libdw.h>
#include <stdbool.h>

/* Returns true if the location is a list, as in optimised code: each entry of a list describes where a variable is in
 * one range of the function's code. */
bool location_is_list(Dwarf_Attribute *location);
/* Returns true if libdw can read the location: it is an expression, or a list of an earlier DWARF, or a list of DWARF 5
 * that ends in its section. libdw built for 32 bits takes the length of an expression as a signed number and reads
 * beyond the section (0.188, dwarf_getlocation_addr(), dwarf_getlocations()). In lists before DWARF 5 lengths have 16
 * bits. */
bool location_is_sound(Dwarf_Attribute *location);

#endif
