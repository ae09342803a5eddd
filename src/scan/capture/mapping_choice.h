/* Chooses the mappings of a process that a scan copies. */
#ifndef FT_SCAN_CAPTURE_MAPPING_CHOICE_H
#define FT_SCAN_CAPTURE_MAPPING_CHOICE_H

#include "symbols/objects/maps.h"

/* Returns true if the program can write the mapping, and the mapping is not a device's. The program can then also read
 * it: the processors that functrace knows have no pages that can only be written. */
bool mapping_is_wanted(const struct mapping *m);
/* Returns true if mapping i contains variables that are constant after the dynamic linker or the program has set
 * them (relro). Such variables directly precede the other variables of their file. */
bool mapping_is_constant(const struct maps *maps, size_t i);
/* Returns true if mapping i may be pages in a block that the program has protected: private memory without a file that
 * can only be read or executed, beside other private memory without a file. */
bool mapping_is_protected(const struct maps *maps, size_t i);

#endif
