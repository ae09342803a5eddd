/* glibc's malloc as its structures lie in memory: malloc/malloc.c and malloc/arena.c of 2.26 to 2.43. Offsets are
 * relative to the array of bins, by which an arena is found. */
#ifndef FT_HEAP_GLIBC_H
#define FT_HEAP_GLIBC_H

#include "base/hash.h"
#include "heap/form.h"
#include "heap/heap.h"
#include "heap/words.h"

/* A chunk's size word. */
#define PREVIOUS_IN_USE 1u
#define IS_MAPPED       2u
#define NOT_MAIN        4u
#define SIZE_OF(word)   ((word) & ~(uint64_t)7)

struct arena {
	uint64_t bins, start; /* start: of the malloc_state, whose first word is its lock */
	bool is_main;
};

/* Memory in which chunks lie behind each other. */
struct region {
	uint64_t start, end; /* of the chunks */
	uint64_t whole;      /* from there to the end nothing else is but the allocator's */
	size_t arena;
	uint64_t top;      /* the arena's topmost chunk is here; 0: it is elsewhere */
	uint32_t first;    /* the first block that begins in it or behind it; blocks.c */
	uint32_t *by_page; /* of each page: the first block that begins there or behind it; NULL of a mapped one */
	bool is_mapped;    /* one chunk of its own mapping */
};

enum chunk_state { CHUNK_USED, CHUNK_FREE, CHUNK_CACHED, CHUNK_INTERNAL };

struct chunk {
	uint64_t address; /* of its first byte for the program */
	uint64_t size;    /* of the chunk, with its header */
	uint8_t state;
};

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
	struct chunk **items;
	size_t count, capacity;
};

struct root {
	uint64_t address; /* 0: a register */
	pid_t tid;
};

struct leads {
	uint64_t bytes, blocks;
};

struct heap {
	const struct heap_image *image;
	struct words words;
	const struct form *form; /* NULL: the blocks are known from elsewhere */
	const char *reason;
	struct arena *arenas; /* the main one first */
	size_t arena_count, arena_capacity;
	uint64_t state_offset;  /* of the bins in a malloc_state: tells the version */
	uint64_t info_size;     /* of a heap_info */
	struct region *regions; /* by address */
	size_t region_count, region_capacity;
	struct chunk *chunks; /* by address */
	size_t chunk_count, chunk_capacity;
	struct heap_block *blocks;
	size_t block_count;
	struct root *roots;
	size_t root_count, root_capacity;
	struct leads *leads; /* of lost blocks that lead to others */
	size_t lead_count, lead_capacity;
	struct heap_figures figures;
	uint64_t sbrk_base; /* the address of that word of mp_; 0 unknown */
};

/* Each: false, and heap->reason, if something does not agree. */

/* Finds the arenas: arenas.c. False without a reason: there are none. */
bool arenas_find(struct heap *heap);
/* Where their chunks are. */
bool arenas_regions(struct heap *heap);
/* Of a main arena in several pieces, by its topmost chunk: pieces.c. */
bool pieces_find(struct heap *heap, uint64_t top, uint64_t system_mem);
/* Where a piece's fence ends that begins at an address, 0: none is there. Where the next piece begins from an address
 * on, 0: there is none up to the limit. */
uint64_t pieces_fence(struct heap *heap, uint64_t at);
uint64_t pieces_next(struct heap *heap, uint64_t from, uint64_t limit, uint64_t top);
/* Finds the chunks of all regions, and which of them bins have: walk.c. */
bool walk_regions(struct heap *heap);
/* Chunks that have mappings of their own, behind the others in the tables: mapped.c. */
bool mapped_find(struct heap *heap);
/* Takes off what threads' caches have: caches.c. */
bool caches_find(struct heap *heap);
/* The table of blocks, from that of the chunks, which is freed: blocks.c. */
bool blocks_make(struct heap *heap);
/* The chunk of the table that begins at an address for the program; NULL none. */
struct chunk *chunk_at(struct heap *heap, uint64_t address);
/* Follows a list, and adds its chunks, whose state is changed, to the marks. How many; -1: it leads to what is no chunk
 * in use of that size. */
int64_t chain_follow(struct heap *heap, const struct chain *chain, struct marks *marks);
/* The marked chunks are in use again. */
void marks_undo(struct marks *marks);
/* The region that has an address, or NULL. */
const struct region *region_of(const struct heap *heap, uint64_t address);
struct region *region_add(struct heap *heap, const struct region *region);
/* Calls back for each word that may be a root: roots.c. address: where it is, 0: a register of thread `tid`. */
void roots_each(struct heap *heap, void (*callback)(void *context, uint64_t word, uint64_t address, pid_t tid),
		void *context);

static inline bool inconsistent(struct heap *heap, const char *reason)
{
	heap->reason = reason;
	return false;
}

#endif
