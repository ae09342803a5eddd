/* A memory image: what the analysis of a heap sees of a process. */
#ifndef FT_HEAP_IMAGE_H
#define FT_HEAP_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct heap_mapping {
	uint64_t start, end, offset;
	bool readable, writable, executable, shared;
	uint64_t device, inode;
	const char *path;
};

struct heap_thread {
	pid_t tid;
	uint64_t pc, sp, thread_pointer;
	bool in_syscall;
	const uint64_t *words; /* every word of its registers, vector ones too */
	size_t n_words;
};

struct heap_image {
	const struct heap_mapping *mappings; /* by address, none overlap */
	size_t n_mappings;
	const struct heap_thread *threads;
	size_t n_threads;
	uint8_t word_size;
	uint16_t machine; /* EM_* */
	/* The bytes held from address on, in one piece; NULL: not held. */
	const void *(*bytes)(const struct heap_image *image, uint64_t address, size_t *size);
	void *context;
};

#endif
