/* Finds out whether the mapped files that gdb leaves out of a core file may have pointers. */
#ifndef FT_SCAN_CAPTURE_CORE_OMITTED_H
#define FT_SCAN_CAPTURE_CORE_OMITTED_H

#include "scan/capture/core_objects.h"
#include "symbols/objects/maps.h"

/* Returns the number of bytes in mappings of files that may have pointers to memory of the core file. Only mappings
 * without a segment count: those that are shared, or that the process has not changed. Their bytes are those of the
 * files. A mapping counts if the file has a word there that is an address of writable memory, or if the bytes of
 * that time are unknown: the file cannot be read, may have changed since `time` (seconds since the Epoch), or there
 * is too much to read. Mappings of an object never count: its file was written before there was a heap. `memory` has
 * only the mappings that the segments describe; `files` are those of core_mappings_read(). sysroot: a directory that
 * is put before the paths, or NULL. */
uint64_t core_omitted_bytes(const struct core_memory *memory, const struct maps *files, int64_t time,
			    const char *sysroot);

#endif
