/* jemalloc 5.3, as its structures lie in memory on processors of 64 bits with pages of 4096 bytes.
 *
 * An extent is memory in one piece: a slab, which has regions of one small size, or one large block. A struct edata
 * describes it; a radix tree of two levels leads from each page to that. Arenas have locks and counts for each small
 * size (bins); each thread has a cache, with a stack of released blocks for each size. */
#ifndef FT_HEAP_JEMALLOC_JEMALLOC_H
#define FT_HEAP_JEMALLOC_JEMALLOC_H

#include "heap/heap_private.h"

#define JEMALLOC_PAGE   4096u
#define JEMALLOC_SIZES  232u
#define JEMALLOC_BINS   36u
#define JEMALLOC_ARENAS 4096u

/* edata_t; the bits of its first word. */
#define EDATA_ADDRESS     8
#define EDATA_SIZE        16
#define EDATA_MAP         64 /* a bit for each region that is free */
#define EDATA_BYTES       128
#define EDATA_ARENA(bits) ((unsigned)((bits)&0xfff))
#define EDATA_IS_SLAB(b)  ((b) >> 12 & 1)
#define EDATA_STATE(bits) ((unsigned)((bits) >> 17 & 7))
#define EDATA_CLASS(bits) ((unsigned)((bits) >> 20 & 0xff))
#define EDATA_FREE(bits)  ((unsigned)((bits) >> 28 & 0x3ff))
#define STATE_ACTIVE      0u
#define STATE_RETAINED    3u

/* arena_t, and its bins behind it. */
#define ARENA_INTERNAL 56 /* bytes of blocks that are its own */
#define ARENA_CACHES   10392
#define ARENA_LARGE    10528
#define ARENA_NUMBER   78928
#define ARENA_BASE     78936
#define ARENA_BINS     78952
#define BIN_BYTES      224u
#define BIN_LOCK       64 /* of its mutex: the int that is 0 when nobody has it */
#define BIN_REGIONS    136
#define BIN_SLABS      176
#define BIN_CURRENT    192
/* base_t: memory for its own structures, in blocks that begin with their size and the next one. */
#define BASE_BLOCKS 160

/* tcache_slow_t, tcache_t, cache_bin_t. */
#define CACHE_NEXT     0
#define CACHE_ARENA    40
#define CACHE_MEMORY   160
#define CACHE_STACKS   168
#define STACKS_MAX     73u
#define STACK_BYTES    24u
#define STACK_LOW_FULL 18
#define STACK_LOW_END  20

/* What the counts of a bin have to be. */
struct bin_sum {
	uint64_t regions, slabs;
};

struct jemalloc {
	struct heap *heap;
	uint64_t bin_infos; /* the array's address */
	uint64_t arenas;    /* the same */
	uint64_t root;      /* of the radix tree */
	uint64_t slab_sizes[JEMALLOC_BINS];
	unsigned shards[JEMALLOC_BINS];
	struct bin_sum *sums; /* by arena and small size */
	struct hash leaves;   /* of the tree that were read: address / size + 1 -> 1 */
	uint64_t cache_bytes; /* of a cache's memory to the mark behind it; 0: no thread has a cache */
};

/* A block whose class is this is no longer the program's: it is in a cache, or the allocator's own. */
#define CLASS_TAKEN 15u

enum heap_status jemalloc_read(struct heap *heap);
/* The words that are not 0 while a thread changes a bin, for heap_locks(). */
size_t jemalloc_locks(struct heap *heap, uint64_t *addresses, size_t most);

/* The address of one of its variables; 0: it is not there. */
uint64_t jemalloc_variable(struct heap *heap);

/* Finds its variables: jemalloc_find.c. HEAP_NOT_FOUND: it is another allocator. HEAP_UNSUPPORTED: another version. */
enum heap_status jemalloc_find(struct jemalloc *j);
/* The arena of a number; 0: there is none. */
uint64_t jemalloc_arena(struct jemalloc *j, unsigned number);
/* The address of the description that the tree has for a page; 0 none. *word: all of the tree's word. */
uint64_t jemalloc_edata(uint64_t word);
uint64_t jemalloc_size(unsigned class);
/* Compares the counts of arenas, and takes off what caches have: jemalloc_caches.c. False, and heap->reason, if
 * something does not agree. */
bool jemalloc_arenas(struct jemalloc *j);

#endif
