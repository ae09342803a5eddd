/* Addresses inside the rooms of blocks at which the program has them. */
#ifndef FT_HEAP_BLOCK_STARTS_H
#define FT_HEAP_BLOCK_STARTS_H

#include "base/hash.h"
#include "heap/heap.h"

struct range {
	uint64_t start, end;
};

struct starts {
	struct hash known; /* address -> 1 */
	struct hash first; /* block -> what is before this address is not the program's; the block itself: all may be */
	struct range *aligned; /* whose blocks may begin where an alignment has put them, by address */
	size_t aligned_count, aligned_capacity;
};

/* Pages with such blocks, by address. */
void starts_aligned(struct heap *heap, uint64_t start, uint64_t end);
/* Whether the program has, or may have, a block at this address in a block's room. */
bool starts_there(const struct heap *heap, const struct heap_block *block, uint64_t address);
/* Where the program's part of a block begins. */
uint64_t starts_first(const struct heap *heap, uint64_t block);
void starts_free(struct starts *starts);

#endif
