/* The structures of glibc's malloc in memory: malloc/malloc.c and malloc/arena.c of 2.26 to 2.43. Offsets are relative
 * to the array of bins, by which an arena is found. */
#ifndef FT_HEAP_GLIBC_GLIBC_H
#define FT_HEAP_GLIBC_GLIBC_H

#include "heap/heap_private.h"

/* Bits of a chunk's size word. */
#define PREVIOUS_IN_USE 1u
#define IS_MAPPED       2u
#define NOT_MAIN        4u
#define SIZE_OF(word)   ((word) & ~(uint64_t)7)

struct arena {
	uint64_t bins, start; /* start: of the malloc_state, whose first word is its lock */
	bool is_main;         /* of a C library: dlmopen(3) can load several of these */
};

/* While a heap is read, the table of blocks contains all chunks, with these states. The address is that of the chunk's
 * block; the size includes the chunk's header. */
enum chunk_state { CHUNK_USED, CHUNK_FREE, CHUNK_CACHED, CHUNK_INTERNAL };

/* A list of free chunks that their neighbours mark as in use. From 2.32 on the pointers in such lists are xored with
 * bits of their own addresses ("safe linking"). Whether they are xored is found by trying: a list leads from chunk to
 * chunk and ends with 0. */
struct chain {
	uint64_t first, size; /* size: of each chunk; 0: any */
	unsigned header;      /* bytes from the target of a pointer to the chunk's block */
	bool is_mixed;
	enum chunk_state state; /* which the chunks get */
};

struct marks {
	struct block **items;
	size_t count, capacity;
};

/* Functions that return false set heap->reason to what is inconsistent. */

/* Finds the arenas: arenas.c. Returns false without a reason if there are none. */
bool arenas_find(struct heap *heap);
/* Finds the regions of the arenas. */
bool arenas_regions(struct heap *heap);
/* Finds the pieces of noncontiguous main arenas by their topmost chunks: system_mem bytes in all. noncontiguous.c */
bool noncontiguous_find(struct heap *heap, uint64_t system_mem);
/* Returns the end of the fence that begins at an address, or 0. */
uint64_t noncontiguous_fence(struct heap *heap, uint64_t at);
/* Returns the begin of the first piece from an address on, up to the limit, or 0. */
uint64_t noncontiguous_next(struct heap *heap, uint64_t from, uint64_t limit);
/* Finds the chunks of all regions, and checks the bins: chunks.c. */
bool walk_regions(struct heap *heap);
/* Adds mmapped chunks to the tables: mmapped.c. */
bool mmapped_find(struct heap *heap);
/* Chooses the mmapped chunks from `found`: places that look like them, but are more than malloc counts, or overlap.
 * Decides by the pointers to them and by the sums. Moves the chosen ones to the front and returns how many; 0 if no
 * choice, or more than one, has `count` chunks of `bytes`. In mmapped_pick.c. */
size_t mmapped_pick(struct heap *heap, struct region *found, size_t found_count, uint64_t count, uint64_t bytes);
/* Marks the chunks in threads' caches, and the caches themselves: tcache.c. */
bool tcaches_find(struct heap *heap);
/* Replaces the table's chunks by the blocks of the chunks in use: used_chunks.c. Returns false if there are too
 * many. */
bool blocks_make(struct heap *heap);
/* Follows a list, sets its chunks' states, and adds them to the marks. Returns how many. If the list leads to anything
 * but a chunk in use of its size, returns -1, with the address in heap->place. */
int64_t chain_follow(struct heap *heap, const struct chain *chain, struct marks *marks);
/* Marks these chunks as in use again. */
void marks_undo(struct marks *marks);

#endif
