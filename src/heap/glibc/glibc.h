/* The structures of glibc's malloc in memory: malloc/malloc.c and malloc/arena.c of 2.26 to 2.43. An arena is found
 * by its array of bins; offsets are relative to this array. */
#ifndef FT_HEAP_GLIBC_GLIBC_H
#define FT_HEAP_GLIBC_GLIBC_H

#include "heap/heap_private.h"

/* Bits of a chunk's size word. */
#define PREVIOUS_IN_USE 1u
#define IS_MAPPED       2u
#define NOT_MAIN        4u
#define SIZE_OF(word)   ((word) & ~(uint64_t)7)

struct arena {
	uint64_t bins, start; /* start: address of the malloc_state, whose first word is its lock */
	bool is_main;         /* true if it is the main arena of a C library; dlmopen(3) can load several C libraries */
};

/* The states of chunks while a heap is read. The table of blocks then contains all chunks. An entry's address is
 * that of the chunk's block; its size includes the chunk's header. */
enum chunk_state { CHUNK_USED, CHUNK_FREE, CHUNK_CACHED, CHUNK_INTERNAL };

/* A list of free chunks that are marked as in use in the next chunks' headers. From 2.32 on each pointer in such lists
 * is xored with bits of its own address ("safe linking"). To find out whether pointers are xored, both ways are tried:
 * only the right one leads from valid chunk to valid chunk and ends with 0. */
struct chain {
	uint64_t first, size; /* size: size of each chunk in bytes; 0: any size */
	unsigned header;      /* offset of a chunk's block from the address in a pointer of the list, in bytes */
	bool is_mixed;
	enum chunk_state state; /* state that the chunks of the list are set to */
};

struct marks {
	struct block **items;
	size_t count, capacity;
};

/* Functions that return false set heap->reason to a text that says which data is inconsistent. */

/* Finds the arenas; see arenas.c. Returns false without a reason if there are none. */
bool arenas_find(struct heap *heap);
/* Finds the regions of the arenas. */
bool arenas_regions(struct heap *heap);
/* Finds the pieces of noncontiguous main arenas by their topmost chunks. Returns true if the pieces, together with
 * other code's memory from sbrk(2) between them, have system_mem bytes. See noncontiguous.c. */
bool noncontiguous_find(struct heap *heap, uint64_t system_mem);
/* Returns the end of the fence that begins at an address, or 0. A fence is two chunks with a header only, at the end of
 * a piece. */
uint64_t noncontiguous_fence(struct heap *heap, uint64_t at);
/* Returns the first address from `from` on at which a piece begins that ends at or before `limit`, or 0. */
uint64_t noncontiguous_next(struct heap *heap, uint64_t from, uint64_t limit);
/* Finds the chunks of all regions, and checks the bins; see chunks.c. */
bool walk_regions(struct heap *heap);
/* Adds mmapped chunks to the tables; see mmapped.c. */
bool mmapped_find(struct heap *heap);
/* Chooses the mmapped chunks from the candidates in `found`, which look like mmapped chunks, but overlap or are more
 * than malloc has counted. The choice depends on the pointers to the candidates and on the sum of their bytes. Moves
 * the chosen ones to the front and returns their number; 0 if no choice, or more than one, has `count` chunks of
 * `bytes` in all. See mmapped_pick.c. */
size_t mmapped_pick(struct heap *heap, struct region *found, size_t found_count, uint64_t count, uint64_t bytes);
/* Marks the chunks in threads' caches, and the caches themselves; see tcache.c. */
bool tcaches_find(struct heap *heap);
/* Replaces all chunks in the table by the blocks of the chunks in use; see used_chunks.c. Returns false if there are
 * too many blocks. */
bool blocks_make(struct heap *heap);
/* Follows a list, sets the states of its chunks, and adds them to `marks`. Returns the number of chunks. If an entry
 * of the list is not a chunk in use of the list's size, returns -1 and sets heap->place to the entry's address. */
int64_t chain_follow(struct heap *heap, const struct chain *chain, struct marks *marks);
/* Sets the state of the chunks in `marks` back to CHUNK_USED. */
void marks_undo(struct marks *marks);

/* A function with the parameters of the callback of roots_each(). */
typedef void (*inside_callback)(void *context, uint64_t word, uint64_t address, pid_t tid);

/* Calls back with the address of each block that the thread, if it is inside malloc, is allocating or releasing. */
void inside_each(struct heap *heap, const struct heap_thread *thread, inside_callback callback, void *context);

/* Returns true if a word in a block is an old link of malloc's lists. The word is at address `at` in the block, and
 * points into another block. */
bool link_is_of_malloc(struct heap *heap, const struct heap_block *block, uint64_t at, uint64_t word);

#endif
