/* Whether a list of locations may be given to libdw. */
#ifndef FT_SYMBOLS_LOCATION_LIST_H
#define FT_SYMBOLS_LOCATION_LIST_H

#include <elfutils/libdw.h>
#include <stdbool.h>

/* Whether the list of DWARF 5 that the attribute refers to ends in its section. libdw of 32 bits takes the length of an
 * expression for a signed number and reads beyond all of it (0.188, dwarf_getlocation_addr()). True for lists of
 * earlier versions, whose lengths have 16 bits. */
bool location_list_is_sound(Dwarf_Attribute *location);

#endif
