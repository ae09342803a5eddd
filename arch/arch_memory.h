/* How a port reads and writes the memory of a traced process, or of an image of one. */
#ifndef FT_ARCH_MEMORY_H
#define FT_ARCH_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Access to the target's memory, for emulation and for reading code. The functions return 0 or -errno (-EFAULT in
 * emulation: the target must execute the instruction itself). */
struct arch_memory {
	int (*read)(void *context, uint64_t address, void *data, size_t size);
	int (*write)(void *context, uint64_t address, const void *data, size_t size);
	void *context;
};

#endif
