/* Checks lists of locations before libdw reads them. */
#ifndef FT_SYMBOLS_TYPES_LOCATION_LIST_H
#define FT_SYMBOLS_TYPES_LOCATION_LIST_H

#include <elfutils/libdw.h>
#include <stdbool.h>

/* Returns true if the location is a list, as in optimised code: each entry of a list describes where a variable is in
 * one range of the function's code. */
bool location_is_list(Dwarf_Attribute *location);
/* Returns true if libdw can read the location without reading beyond its section: the location is an expression, a list
 * of DWARF 5 that ends in its section, or a list of an earlier version. Lists of DWARF 5 are checked because a libdw
 * for 32 bits (0.188, dwarf_getlocation_addr(), dwarf_getlocations()) treats the length of an expression as a signed
 * number. Earlier lists need no check, because their lengths have only 16 bits. */
bool location_is_sound(Dwarf_Attribute *location);
/* Finds the expression for the place of a variable before a function's first instruction, which is at `address`. GCC's
 * views can describe several places at this address, because an assignment may need no instruction ("a = b"); then the
 * place before all such assignments is found. Returns 1 on success, 0 if the variable has no place there, or -1 if
 * libdw cannot read the location. */
int location_at_entry(Dwarf_Die *variable, Dwarf_Attribute *location, Dwarf_Addr address, Dwarf_Op **operations,
		      size_t *count);

#endif
