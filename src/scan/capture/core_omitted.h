/* Finds out whether the mapped files that gdb leaves out of a core file may have pointers. */
#ifndef FT_SCAN_CAPTURE_CORE_OMITTED_H
#define FT_SCAN_CAPTURE_CORE_OMITTED_H

#include "scan/capture/core_objects.h"
#include "symbols/objects/maps.h"

/* Returns the number of bytes in mappings of files that may have pointers to memory of the core file. Mappings
 * with a segment in the core file do not count. A mapping without one is shared, or the process has not changed it, so
 * its bytes are those of the file. It counts if its part of the file has a word that is an address of writable memory.
 * It also counts if its bytes at the time of the core file are unknown, because the file cannot be read or may have
 * changed since `time` (seconds since the Epoch), or because there is too much to read. Mappings of an object never
 * count, because an object's file was written before there was a heap. `memory` has only the mappings that the segments
 * describe; `files` are those of core_mappings_read(). sysroot: a directory that is put before the paths, or NULL. */
uint64_t core_omitted_bytes(const struct object_memory *memory, const struct maps *files, int64_t time,
			    const char *sysroot);

#endif
