/* The files that libdw opens by itself: .dwo files, to which the unit of a program refers. */
#ifndef FT_SYMBOLS_NAMES_SPLIT_OPEN_H
#define FT_SYMBOLS_NAMES_SPLIT_OPEN_H

#include <elfutils/libdw.h>

/* Has libdw open regular files only, without waiting, as private copies. To be called before libdw is used,
 * and before there are threads that open files. */
void split_open_begin(void);
/* The unit that has the functions of a skeleton unit: in the .dwo file that it names, which is looked for where it
 * says, then beside `beside` (the path of the skeleton's own file). Without one, the skeleton. */
Dwarf_Die split_unit(Dwarf_Die *skeleton, const char *beside);

#endif
