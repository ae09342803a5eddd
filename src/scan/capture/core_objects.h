/* Finds the memory of a core file that has an object's variables although it cannot be written. A core file tells
 * neither which mappings are shared nor which pages the process has changed. */
#ifndef FT_SCAN_CAPTURE_CORE_OBJECTS_H
#define FT_SCAN_CAPTURE_CORE_OBJECTS_H

#include "arch/arch.h"
#include "heap/image.h"

struct core_memory {
	const struct heap_mapping *mappings; /* by address; `inode` is the file's number */
	size_t count;
	const struct arch *arch;
	/* Copies what the core file has from `address` on, at most `size` bytes. Returns how many. */
	size_t (*read)(void *context, uint64_t address, void *data, size_t size);
	void *context;
};

/* Returns whether mapping `i` has variables that are constant after the dynamic linker or the program has set them
 * (relro). The program headers of its object decide if the core file has them. Without them the mapping must be
 * followed, in memory and in the file, by a writable one. */
bool core_is_constant(const struct core_memory *memory, size_t i);

#endif
