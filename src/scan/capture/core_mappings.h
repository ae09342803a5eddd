/* Reads from a core file which files the process had mapped. */
#ifndef FT_SCAN_CAPTURE_CORE_MAPPINGS_H
#define FT_SCAN_CAPTURE_CORE_MAPPINGS_H

#include "arch/arch.h"
#include "heap/image.h"
#include "symbols/objects/maps.h"

/* Reads a note NT_FILE into *files, which is empty: mappings by address, with a number for each path as inode. A
 * damaged note leaves *files empty. maps_free() frees *files. */
void core_mappings_read(struct maps *files, const struct arch *arch, const unsigned char *bytes, size_t size);
/* Gives the segments of a core file, *count of them by address, the paths of their files. Adds mappings of files
 * without a segment, which gdb leaves out. Takes over `items` and returns the array, which may have moved, with the new
 * *count. The paths belong to `files`. The permissions of mappings are set in `files`, too; an added mapping counts as
 * readable and executable. */
struct heap_mapping *core_mappings_join(struct maps *files, struct heap_mapping *items, size_t *count);

#endif
