/* The structures of jemalloc 5.3 in memory, on 64-bit processors with pages of 4096 bytes.
 *
 * An extent is contiguous memory: a slab, or one large block. A slab is divided into places for blocks of one small
 * size, which jemalloc calls regions. A struct edata describes an extent. A radix tree of two levels maps each page to
 * the edata of its extent. An arena has a bin for each small size, with locks and counts. A thread has a cache, with a
 * stack of released blocks for each size. */
#ifndef FT_HEAP_JEMALLOC_JEMALLOC_H
#define FT_HEAP_JEMALLOC_JEMALLOC_H

#include "heap/heap_private.h"

#define JEMALLOC_PAGE   4096u
#define JEMALLOC_SIZES  232u
#define JEMALLOC_BINS   36u
#define JEMALLOC_ARENAS 4096u

/* Offsets in edata_t, and the bits of its first word. */
#define EDATA_ADDRESS     8
#define EDATA_SIZE        16
#define EDATA_MAP         64 /* bit map with a bit for each region; 1: the region is free */
#define EDATA_BYTES       128
#define EDATA_ARENA(bits) ((unsigned)((bits)&0xfff))
#define EDATA_IS_SLAB(b)  ((b) >> 12 & 1)
#define EDATA_STATE(bits) ((unsigned)((bits) >> 17 & 7))
#define EDATA_CLASS(bits) ((unsigned)((bits) >> 20 & 0xff))
#define EDATA_FREE(bits)  ((unsigned)((bits) >> 28 & 0x3ff))
#define STATE_ACTIVE      0u
#define STATE_RETAINED    3u

/* Offsets in arena_t, and in its bins, which follow the arena_t. */
#define ARENA_INTERNAL 56 /* bytes of blocks that jemalloc uses for itself */
#define ARENA_CACHES   10392
#define ARENA_LARGE    10528
#define ARENA_NUMBER   78928
#define ARENA_BASE     78936
#define ARENA_BINS     78952
#define BIN_BYTES      224u
#define BIN_LOCK       64 /* an int of the bin's mutex; 0 while no thread holds the mutex */
#define BIN_REGIONS    136
#define BIN_SLABS      176
#define BIN_CURRENT    192
/* Offset, in base_t, of a pointer to the first piece of the memory for jemalloc's own structures. Each piece begins
 * with its size and a pointer to the next piece. */
#define BASE_BLOCKS 160

/* Offsets in tcache_slow_t, tcache_t and cache_bin_t. */
#define CACHE_NEXT     0
#define CACHE_ARENA    40
#define CACHE_MEMORY   160
#define CACHE_STACKS   168
#define STACKS_MAX     73u
#define STACK_BYTES    24u
#define STACK_LOW_FULL 18
#define STACK_LOW_END  20

/* The sums of a bin's slabs, which must equal the bin's counts. */
struct bin_sum {
	uint64_t regions, slabs;
};

struct jemalloc {
	struct heap *heap;
	uint64_t bin_infos; /* address of the array of bin_info_t */
	uint64_t arenas;    /* address of the array of arenas */
	uint64_t root;      /* address of the radix tree's root; while the root is searched for, address of an edata */
	uint64_t slab_sizes[JEMALLOC_BINS];
	unsigned shards[JEMALLOC_BINS];
	struct bin_sum *sums; /* sums for each arena and small size */
	struct hash leaves;   /* leaves that have been read: address / LEAF_BYTES + 1 -> number of reads */
	uint64_t cache_bytes; /* offset of MARK_BEHIND, which ends a cache's memory; 0: no thread has a cache */
};

/* The state of a block that the program does not use: it is in a cache, or jemalloc uses it for itself. */
#define CLASS_TAKEN 15u

/* Reads regions and blocks into an empty heap. Returns the result of jemalloc_find(), HEAP_INCONSISTENT or
 * HEAP_TOO_LARGE. */
enum heap_status jemalloc_read(struct heap *heap);
/* Writes the addresses of the bins' locks for heap_locks(), `most` of them at most. Returns the number of addresses
 * written. */
size_t jemalloc_locks(struct heap *heap, uint64_t *addresses, size_t most);

/* Returns the address of one of jemalloc's variables, or 0 if the image has no jemalloc. */
uint64_t jemalloc_variable(struct heap *heap);

/* Finds jemalloc's variables; see jemalloc_find.c. Returns HEAP_READ, HEAP_NOT_FOUND if the allocator is not
 * jemalloc, or HEAP_UNSUPPORTED if it is another version of jemalloc. */
enum heap_status jemalloc_find(struct jemalloc *j);
/* Returns the address of the arena with this number, or 0. */
uint64_t jemalloc_arena(struct jemalloc *j, unsigned number);
/* Returns the number of bins of an arena, all shards counted. Needs jemalloc_find(). */
unsigned jemalloc_bins(const struct jemalloc *j);
/* Returns the address of the edata that a word of the tree contains, or 0. */
uint64_t jemalloc_edata(uint64_t word);
/* Returns the size in bytes of the blocks of a size class. */
uint64_t jemalloc_size(unsigned class);
/* Checks the counts of all arenas, and sets the blocks in caches to CLASS_TAKEN; see jemalloc_arenas.c. Returns false
 * and sets heap->reason if counts or caches are inconsistent. */
bool jemalloc_arenas(struct jemalloc *j);

#endif
