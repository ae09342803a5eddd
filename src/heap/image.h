/* A memory image: what the analysis of a heap sees of a process. */
#ifndef FT_HEAP_IMAGE_H
#define FT_HEAP_IMAGE_H

#include "arch/arch.h"
#include "base/util.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct heap_mapping {
	uint64_t start, end, offset;
	bool readable, writable, executable, shared;
	bool has_tags; /* the processor keeps a tag of each 16 bytes of it, which pointers have, too */
	uint64_t device, inode;
	const char *path;
};

struct heap_thread {
	pid_t tid;
	uint64_t pc, sp, thread_pointer;
	bool in_syscall;
	bool is_outside;       /* in a system call that no allocator makes */
	const uint64_t *words; /* every word of its registers, vector ones too */
	size_t n_words;
};

struct heap_image {
	const struct heap_mapping *mappings; /* by address, none overlap */
	size_t n_mappings;
	const struct heap_thread *threads;
	size_t n_threads;
	const struct arch *arch; /* the program's processor */
	bool is_partial;         /* memory is not held that may have pointers: nothing is known to be lost */
	/* The bytes held from address on, in one piece. NULL: not held; *size, if it is changed then: so many bytes
	 * from there on are not. */
	const void *(*bytes)(const struct heap_image *image, uint64_t address, size_t *size);
	void *context;
};

/* The mapping that has an address, or NULL. */
static inline const struct heap_mapping *image_mapping(const struct heap_image *image, uint64_t address)
{
	const size_t count = COUNT_UP_TO(image->mappings, image->n_mappings, .start, address);

	return count && address < image->mappings[count - 1].end ? &image->mappings[count - 1] : NULL;
}

#endif
