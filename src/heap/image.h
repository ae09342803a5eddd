/* A memory image: the mappings, threads and bytes of a process, from which the process's heap is read. */
#ifndef FT_HEAP_IMAGE_H
#define FT_HEAP_IMAGE_H

#include "arch/arch.h"
#include "base/util.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

struct heap_mapping {
	uint64_t start, end, offset;
	bool readable, writable, executable, shared;
	bool has_tags; /* true if each 16 bytes have a tag, which is also in pointers to them */
	uint64_t device, inode;
	/* Address of the mapping's first variable, if other bytes of the object precede it in its page; otherwise 0.
	 * Those bytes are the end of constants and code. They are older than the heap, so they contain no pointers to
	 * it. */
	uint64_t variables;
	const char *path;
};

struct heap_thread {
	pid_t tid;
	uint64_t pc, sp, thread_pointer;
	bool in_syscall;
	bool is_ending;        /* true if the thread is in exit(3): no function on its stack will continue */
	bool is_outside;       /* true if the thread is in a system call that no allocator makes */
	const uint64_t *words; /* all words of its registers, including vector registers */
	size_t n_words;
};

struct heap_image {
	const struct heap_mapping *mappings; /* in order of address, disjoint */
	size_t n_mappings;
	const struct heap_thread *threads;
	size_t n_threads;
	const struct arch *arch; /* the processor of the process */
	bool is_partial; /* memory or registers that may have pointers are missing; then no block is called lost */
	/* Returns the image's bytes from an address on, and sets *size to how many of them are contiguous. Returns
	 * NULL if the image does not contain the byte at the address; *size is then unchanged, or the number of
	 * bytes that are missing from there on. */
	const void *(*bytes)(const struct heap_image *image, uint64_t address, size_t *size);
	void *context;
};

/* Returns true if a mapping is private memory from mmap(2) without a file, which the program can read and write. For
 * such memory of huge pages (MAP_HUGETLB), the kernel shows the path "/anon_hugepage (deleted)". */
static inline bool image_is_anonymous(const struct heap_mapping *m)
{
	return m->readable && m->writable && !m->shared &&
	       (!m->path[0] || !strcmp(m->path, "/anon_hugepage (deleted)"));
}

/* Returns true if a mapping is private memory without a file that the program has made unwritable with mprotect(2).
 * Such pages may be inside of blocks. */
static inline bool image_is_protected(const struct heap_mapping *m)
{
	return !m->writable && !m->shared && (!m->path[0] || !strcmp(m->path, "[heap]"));
}

/* Returns the mapping that contains an address, or NULL. */
static inline const struct heap_mapping *image_mapping(const struct heap_image *image, uint64_t address)
{
	const size_t count = COUNT_UP_TO(image->mappings, image->n_mappings, .start, address);

	return count && address < image->mappings[count - 1].end ? &image->mappings[count - 1] : NULL;
}

#endif
