/* What a heap is made of, whosever it is: regions of memory with blocks in them, and roots. */
#ifndef FT_HEAP_HEAP_PRIVATE_H
#define FT_HEAP_HEAP_PRIVATE_H

#include "base/hash.h"
#include "heap/malloc_layout.h"
#include "heap/heap.h"
#include "heap/block_starts.h"
#include "heap/image_read.h"

/* Memory that the allocator has for blocks. */
struct region {
	uint64_t start, end; /* of the chunks */
	uint64_t whole;      /* from there to the end nothing else is but the allocator's */
	size_t arena;        /* of all main ones the first */
	uint64_t top;        /* the arena's topmost chunk is here; 0: it is elsewhere */
	uint32_t first;      /* the first block that begins in it or behind it; block_table.c */
	uint32_t *by_page;   /* of each page: the first block that begins there or behind it; NULL of a mapped one */
	size_t pages;        /* of these: behind the last one no block begins */
	bool is_mapped;      /* one chunk of its own mapping */
};

/* A block of the table, which has millions: block_address(), block_size(), block_state(). */
struct block {
	uint32_t low, high; /* of the address; the highest bits of `high` are the state */
	uint32_t size;      /* BLOCK_LARGE: heap->large has it */
};

#define BLOCK_STATES  28 /* the first of the state's bits */
#define BLOCK_LARGE   UINT32_MAX
#define BLOCK_ADDRESS (1ull << (32 + BLOCK_STATES)) /* addresses are below */

struct root {
	uint64_t address; /* 0: a register */
	pid_t tid;
};

/* What is indirectly lost by a block. */
struct leads {
	uint64_t bytes, blocks;
	uint32_t block;
};

/* The way to a block: heap_way(). */
struct way {
	uint32_t root, from;
};

struct heap {
	const struct heap_image *image;
	struct words words;
	const struct arch_malloc *form; /* NULL: the blocks are known from elsewhere */
	const char *allocator;
	const char *reason;
	uint64_t place;       /* where that is seen; 0 unknown */
	struct arena *arenas; /* glibc's; of each C library the main one first */
	size_t arena_count, arena_capacity;
	uint64_t *tops; /* of the main arenas that have memory: their topmost chunks */
	size_t top_count, top_capacity;
	uint64_t state_offset;  /* of the bins in a malloc_state: tells the version */
	uint64_t info_size;     /* of a heap_info */
	uint64_t heap_size;     /* what a thread arena's heaps are aligned to */
	struct region *regions; /* by address */
	size_t region_count, region_capacity;
	struct block *blocks; /* by address; while glibc's heap is read all its chunks, free ones too */
	size_t block_count, block_capacity;
	struct hash large; /* address -> size, of blocks of 4 GiB and more */
	struct way *ways;  /* of each block; NULL: they are not kept */
	struct root *roots;
	size_t root_count, root_capacity;
	struct leads *leads; /* of lost blocks that lead to others, by block */
	size_t lead_count, lead_capacity;
	struct heap_figures figures;
	struct range *ignored; /* memory whose words are no pointers, by address, disjoint: roots.c */
	size_t ignored_count;
	struct range *own; /* memory outside of regions in which the allocator describes its heaps */
	size_t own_count, own_capacity;
	struct starts starts;   /* block_starts.c */
	unsigned header_before; /* so far before a block threads point that are just giving or taking it; 0 unknown */
	uint64_t sbrk_base;     /* the address of that word of mp_; 0 unknown */
	bool has_tags;          /* glibc tags blocks (glibc.mem.tagging): its arenas are in memory that has tags */
};

static inline uint64_t block_address(const struct block *block)
{
	return (uint64_t)(block->high & ((1u << BLOCK_STATES) - 1)) << 32 | block->low;
}

/* A number from 0 to 15: an enum heap_class, or the allocator's own while its heap is read. */
static inline unsigned block_state(const struct block *block)
{
	return block->high >> BLOCK_STATES;
}

static inline void block_set_state(struct block *block, unsigned state)
{
	block->high = (block->high & ((1u << BLOCK_STATES) - 1)) | (uint32_t)state << BLOCK_STATES;
}

static inline uint64_t block_size(const struct heap *heap, const struct block *block)
{
	return block->size != BLOCK_LARGE ? block->size : *hash_get(&heap->large, block_address(block));
}

/* Behind the others; what cannot be an address is left out. */
void block_add(struct heap *heap, uint64_t address, uint64_t size, unsigned state);
void block_set_size(struct heap *heap, struct block *block, uint64_t size);
/* The block that begins at an address; NULL none. */
struct block *block_at(const struct heap *heap, uint64_t address);
/* Takes the blocks off that have that state. */
void blocks_drop(struct heap *heap, unsigned state);
void blocks_sort(struct heap *heap);
/* Where the first of them begins, and where the last one ends; there is one at least. */
void blocks_span(const struct heap *heap, uint64_t *lowest, uint64_t *highest);
/* Whether a mapping has the variables of an object: of a file, or its .bss, which lies behind those. */
bool heap_has_variables(const struct heap_image *image, size_t mapping);
/* Whether all of it is memory that can be written, in mappings behind each other. */
bool heap_has_memory(const struct heap_image *image, uint64_t start, uint64_t end);
/* Enters into the regions which blocks are theirs; both are sorted. False: too many. */
bool blocks_index(struct heap *heap);
/* The region that has an address, or NULL. */
const struct region *region_of(const struct heap *heap, uint64_t address);
struct region *region_add(struct heap *heap, const struct region *region);
/* Whether a pointer into the midst of a block is one by which programs keep it: interior.c. */
bool inner_keeps(struct heap *heap, const struct heap_block *block, uint64_t pointer);
/* Calls back for each word that may be a root: roots.c. address: where it is, 0: a register of thread `tid`. */
void roots_each(struct heap *heap, void (*callback)(void *context, uint64_t word, uint64_t address, pid_t tid),
		void *context);

static inline bool inconsistent(struct heap *heap, const char *reason)
{
	heap->reason = reason;
	heap->place = 0;
	return false;
}

/* The same with the address of what does not agree. */
static inline bool inconsistent_at(struct heap *heap, uint64_t place, const char *reason)
{
	heap->reason = reason;
	heap->place = place;
	return false;
}

#endif
