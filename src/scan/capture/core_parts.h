/* Declarations that the files for core files share. */
#ifndef FT_SCAN_CAPTURE_CORE_PARTS_H
#define FT_SCAN_CAPTURE_CORE_PARTS_H

#include "arch/arch.h"
#include "heap/image.h"
#include "scan/capture/object_segments.h"
#include "symbols/objects/maps.h"

/* ---- The files that the process had mapped ---- */

/* Reads a note NT_FILE into *files, which is empty at first: the mappings, in order of address. Numbers the paths; the
 * number is stored as the inode of the path's mappings. If the note is damaged, *files stays empty. maps_free() frees
 * *files. */
void core_mappings_read(struct maps *files, const struct arch *arch, const unsigned char *bytes, size_t size);
/* Adds the files to the mappings `items`, which the segments of a core file describe: *count mappings in order of
 * address. A mapping of a file gets the file's path. If a mapping in `files` has no segment, because gdb omits it, it
 * is added as readable and executable. Also sets the permissions of the mappings in `files`. Takes ownership of
 * `items`, and returns the array, which may have moved, and the new *count. The paths belong to `files`. */
struct heap_mapping *core_mappings_join(struct maps *files, struct heap_mapping *items, size_t *count);

/* Returns true if mapping `i` contains variables that are constant after the dynamic linker or the program has set them
 * (relro). The next mapping must be a writable one of the same file, directly after this one. Then the object's program
 * headers decide; if the core file does not contain them, the next mapping must also continue this one in the file.
 * For a live process mapping_choice.h does this; but a core file does not say which mappings are shared, nor which
 * pages the process has changed. */
bool core_is_constant(const struct object_memory *memory, size_t i);
/* Returns true if a mapping is memory without a file that can only be read or executed. It may consist of pages in a
 * block that the program has protected. */
bool core_is_read_only(const struct heap_mapping *mapping);

/* ---- Mapped files that gdb leaves out of a core file ---- */

/* Returns the sum of the sizes, in bytes, of those mappings of files that have no segment in the core file and may have
 * pointers to the process's memory. Such a mapping is shared, or the process has not changed it, so its bytes are those
 * of the file. It may have pointers if its part of the file has a word that is an address of writable memory, or if its
 * bytes at the time of the core file are unknown: the file cannot be read, may have changed since `time` (seconds since
 * the Epoch), or there is too much to read. Mappings of an object are never included, because an object's file was
 * written before there was a heap. `memory` has only the mappings that the segments describe; `files` are those of
 * core_mappings_read(). sysroot: a directory that is put before the paths, or NULL. */
uint64_t core_omitted_bytes(const struct object_memory *memory, const struct maps *files, int64_t time,
			    const char *sysroot);

#endif
