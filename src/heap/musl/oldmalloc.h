/* The structures of musl's malloc up to 1.2.0, with which later versions can be built ("oldmalloc").
 *
 * A region of chunks has a header at each end. These headers say that the memory before the first chunk and after the
 * last chunk is in use. A region is memory from brk(2), a mapping if brk(2) has failed, or the unused part of a page of
 * an object's variables, which the dynamic linker passes to malloc. A chunk's size is in the word before the block,
 * with a bit that is set if the chunk is in use; the header of the next chunk repeats the word. Chunks that are not in
 * use are in the lists of 64 bins, by size. A large block has a mapping of its own with a header at the start; no list
 * contains it. */
#ifndef FT_HEAP_MUSL_OLDMALLOC_H
#define FT_HEAP_MUSL_OLDMALLOC_H

#include "heap/heap_private.h"

#define MUSL_OLD_BINS 64u
#define CHUNK_IN_USE  1u

struct free_chunk {
	uint64_t start, size;
	bool is_listed;
};

struct musl_old {
	struct heap *heap;
	unsigned word;
	unsigned header; /* bytes of a chunk's header: the previous chunk's size and the chunk's own size */
	unsigned align;  /* alignment of sizes and blocks in bytes */
	unsigned stride; /* bytes of a bin, which is a lock of two ints and pointers to its first and last chunk */
	uint64_t bins;   /* address of the first bin; the bit map of bins that are not empty precedes it */
	uint64_t at;     /* address up to which memory has been read */
	struct free_chunk *free;
	size_t free_count, free_capacity;
};

static inline struct musl_old musl_old_of(struct heap *heap)
{
	const unsigned word = heap->image->arch->pointer_size;

	return (struct musl_old){
		.heap = heap, .word = word, .header = 2 * word, .align = 4 * word, .stride = 8 + 2 * word};
}

static inline uint64_t chunk_size(uint64_t word)
{
	return word & ~(uint64_t)CHUNK_IN_USE;
}

/* Returns true if a chunk can have this size in bytes, at a place with room for `most` bytes. */
static inline bool is_chunk_size(const struct musl_old *m, uint64_t size, uint64_t most)
{
	return size >= m->align && size % m->align == 0 && size <= most;
}

/* Returns true if a mapping contains variables of an object. Memory from brk(2) may directly follow a program's
 * variables; then one mapping contains this memory and the last variables. */
bool musl_old_has_variables(const struct heap_image *image, size_t mapping);
/* Finds the bins by their contents. Returns false if no bins are found. */
bool musl_old_find(struct musl_old *m);
/* Returns true if no lock is held. Else returns false and sets heap->reason. */
bool musl_old_check_locks(struct musl_old *m);
/* Returns true if the bins are consistent and contain all free chunks. Else returns false and sets heap->reason. */
bool musl_old_check_bins(struct musl_old *m);

#endif
