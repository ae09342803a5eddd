/* Finds, in a core file, read-only memory with an object's variables (relro). For a live process mapping_choice.h does
 * this; but a core file does not say which mappings are shared, nor which pages the process has changed. */
#ifndef FT_SCAN_CAPTURE_CORE_OBJECTS_H
#define FT_SCAN_CAPTURE_CORE_OBJECTS_H

#include "scan/capture/object_segments.h"

/* Returns true if mapping `i` contains variables that are constant after the dynamic linker or the program has set them
 * (relro). The next mapping must be a writable one of the same file, directly after this one. Then the object's program
 * headers decide; if the core file does not contain them, the next mapping must also continue this one in the file. */
bool core_is_constant(const struct object_memory *memory, size_t i);
/* Returns true if a mapping is memory without a file that can only be read or executed. It may consist of pages in a
 * block that the program has protected. */
bool core_is_read_only(const struct heap_mapping *mapping);

#endif
