/* Finds, in a core file, read-only memory with an object's variables (relro). A core file does not say which mappings
 * are shared, nor which pages the process has changed. */
#ifndef FT_SCAN_CAPTURE_CORE_OBJECTS_H
#define FT_SCAN_CAPTURE_CORE_OBJECTS_H

#include "arch/arch.h"
#include "heap/image.h"

struct core_memory {
	const struct heap_mapping *mappings; /* by address; `inode` is the file's number from core_mappings_read() */
	size_t count;
	const struct arch *arch;
	/* Copies the bytes of the core file from `address` on, at most `size`. Returns the number of copied bytes. */
	size_t (*read)(void *context, uint64_t address, void *data, size_t size);
	void *context;
};

/* Returns true if mapping `i` contains variables that are constant after the dynamic linker or the program has set
 * them (relro). The object's program headers decide, if the core file contains them. Otherwise the next mapping must
 * continue this one, in memory and in the file, and must be writable. */
bool core_is_constant(const struct core_memory *memory, size_t i);
/* Returns true if a mapping is memory without a file that can only be read or executed. It may consist of pages in a
 * block that the program has protected. */
bool core_is_read_only(const struct heap_mapping *mapping);

#endif
