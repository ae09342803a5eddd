/* The data of a heap of any allocator: regions of memory, the blocks in them, and roots. */
#ifndef FT_HEAP_HEAP_PRIVATE_H
#define FT_HEAP_HEAP_PRIVATE_H

#include "base/hash.h"
#include "heap/malloc_layout.h"
#include "heap/heap.h"
#include "heap/heap_reach.h"
#include "heap/block_starts.h"
#include "heap/image_read.h"

/* A range of memory in which the allocator has blocks. */
struct region {
	uint64_t start, end; /* start of the first chunk, and end of the last one */
	uint64_t begin;      /* all memory from here to `end` belongs to the allocator */
	size_t arena;        /* the arena's index; 0 for all main arenas */
	uint64_t top;        /* the arena's topmost chunk if it is in this region, else 0 */
	uint32_t first;      /* index of the first block that begins at `begin` or later; see block_table.c */
	uint32_t *by_page;   /* for each page, index of the first block that begins in it or later; NULL if is_mapped */
	size_t pages;        /* number of pages in by_page; no block begins in a later page */
	bool is_mapped;      /* true if the region is a single chunk with a mapping of its own */
};

/* One of possibly millions of entries of the table of blocks. block_address(), block_size(), block_state() read it. */
struct block {
	uint32_t low, high; /* the address; the highest bits of `high` contain the state */
	uint32_t size;      /* size in bytes; BLOCK_LARGE: the size is in heap->large */
};

#define BLOCK_STATES  28 /* number of the state's lowest bit in `high` */
#define BLOCK_LARGE   UINT32_MAX
#define BLOCK_ADDRESS (1ull << (32 + BLOCK_STATES)) /* all addresses are lower than this */

/* Data that only the reader of glibc's heaps uses. */
struct heap_glibc {
	struct arena *arenas; /* the arenas of glibc; each C library's main arena comes before its others */
	size_t arena_count, arena_capacity;
	uint64_t *tops; /* the topmost chunks of the main arenas that have memory */
	size_t top_count, top_capacity;
	uint64_t state_offset; /* offset of the bins in a malloc_state; depends on glibc's version */
	uint64_t info_size;    /* bytes of a heap_info */
	uint64_t heap_size;    /* alignment of the heaps of threads' arenas */
	bool has_tags;         /* true if glibc tags blocks (glibc.mem.tagging); arenas are then in tagged memory */
};

struct heap {
	const struct heap_image *image;
	struct words words;
	const struct arch_malloc *layout; /* NULL in a heap that heap_without_blocks() made */
	const char *allocator;
	const char *reason;
	uint64_t place;         /* the address of the data that `reason` is about; 0 if unknown */
	struct region *regions; /* in order of address */
	size_t region_count, region_capacity;
	struct block *blocks; /* in order of address; all chunks, also free ones, while glibc's heap is read */
	size_t block_count, block_capacity;
	struct hash large; /* address -> size in bytes, for blocks of 4 GiB and more */
	struct heap_glibc glibc;
	struct heap_reach reach;
	struct heap_excluded excluded;
	struct heap_figures figures;
	struct starts starts;   /* see block_starts.c */
	unsigned header_before; /* offset of a block from its chunk's header in bytes, for inside_each(); 0: unknown */
};

static inline uint64_t block_address(const struct block *block)
{
	return (uint64_t)(block->high & ((1u << BLOCK_STATES) - 1)) << 32 | block->low;
}

/* Returns the state, from 0 to 15: an enum heap_class, or a state of the allocator's reader while the heap is read. */
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

/* Adds a block at the end of the table, unless its address is BLOCK_ADDRESS or higher. */
void block_add(struct heap *heap, uint64_t address, uint64_t size, unsigned state);
void block_set_size(struct heap *heap, struct block *block, uint64_t size);
/* Returns the block that begins at an address, or NULL. The table must be sorted. */
struct block *block_at(const struct heap *heap, uint64_t address);
/* Removes the blocks with this state. */
void blocks_drop(struct heap *heap, unsigned state);
void blocks_sort(struct heap *heap);
/* Sets *lowest to the start of the first block and *highest to the end of the last one. The heap must have a block. */
void blocks_span(const struct heap *heap, uint64_t *lowest, uint64_t *highest);
/* Returns true if a mapping has variables of an object: a writable private mapping of a file, or the .bss after it. */
bool heap_has_variables(const struct heap_image *image, size_t mapping);
/* Calls is_it() for each word of objects' variables, until it returns true. Returns false if it never does. at: the
 * word's address. */
bool heap_find_variable(const struct heap_image *image, bool (*is_it)(void *context, uint64_t at, uint64_t word),
			void *context);
/* Returns true if all of the range is in mappings that are writable or protected by the program, without a gap. */
bool heap_has_memory(const struct heap_image *image, uint64_t start, uint64_t end);
/* Sets `first` and by_page of all regions. Must be called again after regions or blocks were added. Regions and blocks
 * must be sorted. Returns false if there are too many blocks or pages. */
bool blocks_index(struct heap *heap);
/* Returns the region that contains an address, or NULL. */
const struct region *region_of(const struct heap *heap, uint64_t address);
/* Adds a copy of the region at the end of the table. The returned pointer is valid until the next call. */
struct region *region_add(struct heap *heap, const struct region *region);
/* Sorts regions by `start`. */
void regions_sort(struct region *regions, size_t count);
/* Returns true if an interior pointer makes its block reachable: see interior_heuristics.c. */
bool interior_pointer_keeps(struct heap *heap, const struct heap_block *block, uint64_t pointer);
/* Calls back for each word that may be a root; see roots.c. address: the word's address; 0: a register of `tid`. */
void roots_each(struct heap *heap, void (*callback)(void *context, uint64_t word, uint64_t address, pid_t tid),
		void *context);

/* Sets the reason why the heap is inconsistent. Returns false. */
static inline bool inconsistent(struct heap *heap, const char *reason)
{
	heap->reason = reason;
	heap->place = 0;
	return false;
}

/* Does the same as inconsistent(), and sets the address of the inconsistent data. */
static inline bool inconsistent_at(struct heap *heap, uint64_t place, const char *reason)
{
	heap->reason = reason;
	heap->place = place;
	return false;
}

#endif
