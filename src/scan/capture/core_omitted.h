/* Finds out whether the mapped files that gdb leaves out of a core file may have pointers. */
#ifndef FT_SCAN_CAPTURE_CORE_OMITTED_H
#define FT_SCAN_CAPTURE_CORE_OMITTED_H

#include "scan/capture/core_objects.h"
#include "symbols/objects/maps.h"

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
