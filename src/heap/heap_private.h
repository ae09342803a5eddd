/* The parts of a heap of any allocator: regions of memory, the blocks in them, and roots. */
#ifndef FT_HEAP_HEAP_PRIVATE_H
#define FT_HEAP_HEAP_PRIVATE_H

#include "base/hash.h"
#include "heap/malloc_layout.h"
#include "heap/heap.h"
#include "heap/block_starts.h"
#include "heap/image_read.h"

/* Memory that the allocator has for blocks. */
struct region {
	uint64_t start, end; /* where the chunks begin and end */
	uint64_t begin;      /* all memory from here to `end` is the allocator's */
	size_t arena;        /* the arena's index; 0 for all main arenas */
	uint64_t top;        /* the arena's topmost chunk if it is in this region, else 0 */
	uint32_t first;      /* the first block that begins at `whole` or later; block_table.c */
	uint32_t *by_page;   /* for each page, the first block that begins there or later; NULL if is_mapped */
	size_t pages;        /* pages in by_page: no block begins after them */
	bool is_mapped;      /* a single chunk with a mapping of its own */
};

/* A block in the table, which has millions. Read it by block_address(), block_size() and block_state(). */
struct block {
	uint32_t low, high; /* the address; the highest bits of `high` are the state */
	uint32_t size;      /* BLOCK_LARGE: the size is in heap->large */
};

#define BLOCK_STATES  28 /* the lowest bit of the state in `high` */
#define BLOCK_LARGE   UINT32_MAX
#define BLOCK_ADDRESS (1ull << (32 + BLOCK_STATES)) /* all addresses are lower */

struct root {
	uint64_t address; /* 0: a register of thread `tid` */
	pid_t tid;
};

/* The sums of what is indirectly lost through a block. */
struct leads {
	uint64_t bytes, blocks;
	uint32_t block;
};

/* The way to a block, as heap_way() returns it. */
struct way {
	uint32_t root, from;
};

struct heap {
	const struct heap_image *image;
	struct words words;
	const struct arch_malloc *form; /* NULL in a heap that heap_of_blocks() made */
	const char *allocator;
	const char *reason;
	uint64_t place;       /* the address of what `reason` is about; 0 if unknown */
	struct arena *arenas; /* glibc's; each C library's main arena comes before its others */
	size_t arena_count, arena_capacity;
	uint64_t *tops; /* the topmost chunks of the main arenas that have memory */
	size_t top_count, top_capacity;
	uint64_t state_offset;  /* of the bins in a malloc_state; it depends on glibc's version */
	uint64_t info_size;     /* bytes of a heap_info */
	uint64_t heap_size;     /* alignment of the heaps of threads' arenas */
	struct region *regions; /* in order of address */
	size_t region_count, region_capacity;
	struct block *blocks; /* in order of address; all chunks, free ones too, while glibc's heap is read */
	size_t block_count, block_capacity;
	struct hash large; /* address -> size, of blocks of 4 GiB and more */
	struct way *ways;  /* of each block; NULL if they are not kept */
	struct root *roots;
	size_t root_count, root_capacity;
	struct leads *leads; /* of lost blocks that lead to others, in order of block */
	size_t lead_count, lead_capacity;
	struct heap_figures figures;
	struct range *ignored; /* memory whose words are not roots; in order of address, disjoint: roots.c */
	size_t ignored_count;
	struct range *own; /* memory outside of regions with the allocator's own data, which is not roots */
	size_t own_count, own_capacity;
	struct starts starts;   /* block_starts.c */
	unsigned header_before; /* bytes from a chunk's header to its block, for inside_each(); 0: unknown */
	uint64_t sbrk_base;     /* the address of mp_.sbrk_base; 0 if unknown */
	bool has_tags;          /* glibc tags blocks (glibc.mem.tagging): its arenas are in tagged memory */
};

static inline uint64_t block_address(const struct block *block)
{
	return (uint64_t)(block->high & ((1u << BLOCK_STATES) - 1)) << 32 | block->low;
}

/* Returns the state, a number from 0 to 15: an enum heap_class, or, while the heap is read, a state of the allocator's
 * reader. */
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

/* Adds a block at the end of the table, except at an address that is not below BLOCK_ADDRESS. */
void block_add(struct heap *heap, uint64_t address, uint64_t size, unsigned state);
void block_set_size(struct heap *heap, struct block *block, uint64_t size);
/* Returns the block that begins at an address, or NULL. The table must be sorted. */
struct block *block_at(const struct heap *heap, uint64_t address);
/* Removes the blocks that have this state. */
void blocks_drop(struct heap *heap, unsigned state);
void blocks_sort(struct heap *heap);
/* Returns the begin of the first block and the end of the last one. There must be a block. */
void blocks_span(const struct heap *heap, uint64_t *lowest, uint64_t *highest);
/* Returns true if a mapping contains the variables of an object: a writable private mapping of a file, or the .bss that
 * follows it. */
bool heap_has_variables(const struct heap_image *image, size_t mapping);
/* Returns true if all of the range is in writable mappings, without a gap. */
bool heap_has_memory(const struct heap_image *image, uint64_t start, uint64_t end);
/* Sets `first` and by_page of all regions. Regions and blocks must be sorted. Returns false if there are too many. */
bool blocks_index(struct heap *heap);
/* Returns the region that contains an address, or NULL. */
const struct region *region_of(const struct heap *heap, uint64_t address);
/* Adds a copy of the region at the end of the table. The result is valid until the next call. */
struct region *region_add(struct heap *heap, const struct region *region);
/* Returns true if an interior pointer is one by which programs keep the block: interior.c. */
bool inner_keeps(struct heap *heap, const struct heap_block *block, uint64_t pointer);
/* Calls back for each word that may be a root: roots.c. address: where the word is, 0 for a register of thread
 * `tid`. */
void roots_each(struct heap *heap, void (*callback)(void *context, uint64_t word, uint64_t address, pid_t tid),
		void *context);

/* Notes why the heap is inconsistent. Returns false. */
static inline bool inconsistent(struct heap *heap, const char *reason)
{
	heap->reason = reason;
	heap->place = 0;
	return false;
}

/* The same with the address of what is inconsistent. */
static inline bool inconsistent_at(struct heap *heap, uint64_t place, const char *reason)
{
	heap->reason = reason;
	heap->place = place;
	return false;
}

#endif
