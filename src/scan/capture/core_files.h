/* What a core file says of the files that the process had mapped. */
#ifndef FT_SCAN_CAPTURE_CORE_FILES_H
#define FT_SCAN_CAPTURE_CORE_FILES_H

#include "arch/arch.h"
#include "heap/image.h"
#include "symbols/objects/maps.h"

/* Reads a note NT_FILE into *files, which is empty: by address, with a number for each path as inode. Of a damaged one
 * nothing. maps_free(). */
void core_files_read(struct maps *files, const struct arch *arch, const unsigned char *bytes, size_t size);
/* Gives the segments of a core file, of which there are `count` by address, the paths of files, which stay with
 * `files`; and adds mappings of files that the core file has no segment of: gdb leaves those out. They take `items`,
 * which may be moved, over, and the new count is written to *count. What can be done with a mapping is written to
 * the one of `files`, too; with those that are added, everything but to write. */
struct heap_mapping *core_files_join(struct maps *files, struct heap_mapping *items, size_t *count);

#endif
