/* Opens the files that libdw needs in addition to a program's file: .dwo files, to which the program's units refer. */
#ifndef FT_SYMBOLS_NAMES_DWO_FILE_H
#define FT_SYMBOLS_NAMES_DWO_FILE_H

#include <elfutils/libdw.h>

/* Makes libdw open only regular files, without blocking, as private copies. Call it before libdw is used, and before
 * there are threads that open files. */
void dwo_files_begin(void);
/* Returns the unit that contains the functions of a skeleton unit. The unit is in a .dwo file, whose path is in the
 * skeleton. Tries this path, then the same name in the folder of `beside` (the path of the skeleton's own file).
 * Returns the skeleton if there is no such file. */
Dwarf_Die split_unit(Dwarf_Die *skeleton, const char *beside);

#endif
