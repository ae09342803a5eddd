/* Reads, from a core file, the list of the files that the process had mapped. */
#ifndef FT_SCAN_CAPTURE_CORE_MAPPINGS_H
#define FT_SCAN_CAPTURE_CORE_MAPPINGS_H

#include "arch/arch.h"
#include "heap/image.h"
#include "symbols/objects/maps.h"

/* Reads a note NT_FILE into *files, which is empty at first: the mappings, in order of address. Numbers the paths; the
 * number is stored as the inode of the path's mappings. If the note is damaged, *files stays empty. maps_free() frees
 * *files. */
void core_mappings_read(struct maps *files, const struct arch *arch, const unsigned char *bytes, size_t size);
/* Adds the files to the mappings `items`, which the segments of a core file describe: *count mappings in order of
 * address. A mapping of a file gets the file's path. If a mapping in `files` has no segment, because gdb omits it, it
 * is added as readable and executable. Also sets the permissions of the mappings in `files`. Takes ownership of
 * `items`, and returns the array, which may have moved, and the new *count. The paths belong to `files`. */
struct heap_mapping *core_mappings_join(struct maps *files, struct heap_mapping *items, size_t *count);

#endif
