/* musl's malloc up to 1.2.0, which later versions can be built with ("oldmalloc"), as its structures lie in memory.
 *
 * A region of chunks has one at each end that stands for what is not malloc's: before the first chunk and behind the
 * last one it says that all is in use. Regions are what brk(2) gave; from the time on when that fails, mappings; and
 * what is left of the first and last pages of objects' variables, which the dynamic linker gives to malloc. A chunk
 * says its size before its first byte for the program, with a bit if it is in use, and the next one says the same of
 * it. Those that are not in use are in the lists of 64 bins, by size. A large block has a mapping of its own, at whose
 * begin a header says so; nothing else knows of it. */
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
	unsigned header; /* of a chunk: the size of the one before it, and its own */
	unsigned align;  /* of all sizes, and of blocks */
	unsigned stride; /* of bins: a lock, which is two ints, and the first and last chunk */
	uint64_t bins;   /* where they are; a map of those that are not empty is before them */
	uint64_t at;     /* memory has been looked through up to there */
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

/* A size that chunks have, of one with so much memory. */
static inline bool is_chunk_size(const struct musl_old *m, uint64_t size, uint64_t most)
{
	return size >= m->align && size % m->align == 0 && size <= most;
}

/* Whether a mapping has the variables of an object, or some of them: what brk(2) gave may lie right behind those of a
 * program, and is one mapping with the last of them then. */
bool musl_old_has_variables(const struct heap_image *image, size_t mapping);
/* The bins, by what they are; false: they are not there. */
bool musl_old_find(struct musl_old *m);
/* Whether no lock is held; else the reason is entered. */
bool musl_old_check_locks(struct musl_old *m);
/* Whether the bins have the free chunks, all of them, and hold together; else the reason is entered. */
bool musl_old_check_bins(struct musl_old *m);

#endif
