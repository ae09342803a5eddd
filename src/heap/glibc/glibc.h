/* glibc's malloc as its structures lie in memory: malloc/malloc.c and malloc/arena.c of 2.26 to 2.43. Offsets are
 * relative to the array of bins, by which an arena is found. */
#ifndef FT_HEAP_GLIBC_GLIBC_H
#define FT_HEAP_GLIBC_GLIBC_H

#include "heap/heap_private.h"

/* A chunk's size word. */
#define PREVIOUS_IN_USE 1u
#define IS_MAPPED       2u
#define NOT_MAIN        4u
#define SIZE_OF(word)   ((word) & ~(uint64_t)7)

struct arena {
	uint64_t bins, start; /* start: of the malloc_state, whose first word is its lock */
	bool is_main;         /* of a C library: there may be several, by dlmopen(3) */
};

/* The table of blocks has all chunks at first, with these states, the address of each one's first byte for the program,
 * and its size with its header. */
enum chunk_state { CHUNK_USED, CHUNK_FREE, CHUNK_CACHED, CHUNK_INTERNAL };

/* A list of chunks that are free though their neighbours say that they are in use. From 2.32 on the pointers in such
 * lists are mixed with the address where they are ("safe linking"); which it is shows in the list: it leads from chunk
 * to chunk, and ends with 0. */
struct chain {
	uint64_t first, size; /* of each chunk; 0: any */
	unsigned header;      /* bytes from what the pointers point to to the chunk's address */
	bool is_mixed;
	enum chunk_state state; /* that they get */
};

struct marks {
	struct block **items;
	size_t count, capacity;
};

/* Each: false, and heap->reason, if something does not agree. */

/* Finds the arenas: arenas.c. False without a reason: there are none. */
bool arenas_find(struct heap *heap);
/* Where their chunks are. */
bool arenas_regions(struct heap *heap);
/* Of main arenas in several pieces, by their topmost chunks: all that they have, system_mem bytes. noncontiguous.c */
bool pieces_find(struct heap *heap, uint64_t system_mem);
/* Where a piece's fence ends that begins at an address, 0: none is there. Where the next piece begins from an address
 * on, 0: there is none up to the limit. */
uint64_t pieces_fence(struct heap *heap, uint64_t at);
uint64_t pieces_next(struct heap *heap, uint64_t from, uint64_t limit);
/* Finds the chunks of all regions, and which of them bins have: chunks.c. */
bool walk_regions(struct heap *heap);
/* Chunks that have mappings of their own, behind the others in the tables: mmapped.c. */
bool mapped_find(struct heap *heap);
/* Of `found`, which look like such chunks but are more than malloc counts (or overlap): moves those to the
 * front that are, by the pointers to them and the sums. How many; 0: none of the choices, or several, come to `count`
 * with `bytes`. In mmapped_pick.c. */
size_t mapped_choose(struct heap *heap, struct region *found, size_t found_count, uint64_t count, uint64_t bytes);
/* Takes off what threads' caches have: tcache.c. */
bool caches_find(struct heap *heap);
/* Leaves the blocks in the table, those of the chunks that are in use: used_chunks.c. */
bool blocks_make(struct heap *heap);
/* Follows a list, and adds its chunks, whose state is changed, to the marks. How many; -1: it leads to what is no chunk
 * in use of that size. */
int64_t chain_follow(struct heap *heap, const struct chain *chain, struct marks *marks);
/* The marked chunks are in use again. */
void marks_undo(struct marks *marks);

#endif
