/* Addresses inside an allocator's blocks at which blocks of the program begin. */
#ifndef FT_HEAP_BLOCK_STARTS_H
#define FT_HEAP_BLOCK_STARTS_H

#include "base/hash.h"
#include "heap/heap.h"

struct range {
	uint64_t start, end;
};

struct starts {
	struct hash known;     /* address -> 1, for each address passed to heap_note_block() that is inside a block */
	struct hash first;     /* allocator's block -> program's block in it, or the allocator's block if unknown */
	struct range *aligned; /* ranges whose blocks may have a program's block inside; in order of address */
	size_t aligned_count, aligned_capacity;
};

/* Adds a range of memory in which the program's block may begin at an aligned address inside the allocator's block. The
 * caller adds the ranges in order of address. */
void starts_aligned(struct heap *heap, uint64_t start, uint64_t end);
/* Returns true if a block of the program begins, or may begin, at an address inside the allocator's block. */
bool starts_there(const struct heap *heap, const struct heap_block *block, uint64_t address);
/* Returns the address in an allocator's block at which the program's block begins; `block` itself if that is
 * unknown. */
uint64_t starts_first(const struct heap *heap, uint64_t block);
void starts_free(struct starts *starts);

#endif
