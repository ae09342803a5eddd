/* mimalloc 2.0.9, as its structures lie in memory on processors of 64 bits: neither a secure build, whose lists are
 * encoded, nor one for debugging.
 *
 * A segment, aligned to 32 MiB, has slices of 64 KiB; a page is some of them, for blocks of one size, and is described
 * at the segment's begin. The free blocks of a page are in three lists: free, free again, and released by other
 * threads. One of those of a full page is in a list of the heap that the page belongs to. */
#ifndef FT_HEAP_MIMALLOC_MIMALLOC_H
#define FT_HEAP_MIMALLOC_MIMALLOC_H

#include "heap/heap_private.h"

#define SEGMENT_BYTES (32ull << 20)
#define SLICE_BYTES   (64ull << 10)
#define SLICES        512u

/* mi_segment_t */
#define SEGMENT_ABANDONED 192 /* pages without a heap */
#define SEGMENT_USED      208 /* pages */
#define SEGMENT_COOKIE    216
#define SEGMENT_SLICES    224
#define SEGMENT_INFO      232 /* slices for the descriptions */
#define SEGMENT_KIND      240
#define SEGMENT_ENTRIES   248
#define SEGMENT_THREAD    256
#define SEGMENT_PAGES     264

/* mi_page_t */
#define PAGE_BYTES    80u
#define PAGE_CAPACITY 10
#define PAGE_RESERVED 12
#define PAGE_FLAGS    14 /* a byte; 2: blocks may begin where an alignment has put them */
#define PAGE_FREE     16
#define PAGE_USED     24
#define PAGE_SIZE     28
#define PAGE_LOCAL    32
#define PAGE_THREADS  40
#define PAGE_HEAP     48

/* mi_heap_t */
#define HEAP_DELAYED 2840
#define HEAP_THREAD  2848
#define HEAP_COOKIE  2864
#define HEAP_RANDOM  2888 /* its generator's state, which begins with a constant */
#define HEAP_PAGES   3024
#define HEAP_BYTES   3064u

struct mimalloc {
	struct heap *heap;
	uint64_t cookie; /* of the first thread's heap: each segment has it, mixed with its address */
	uint64_t main;   /* this heap's address */
	uint64_t *segments;
	size_t segment_count, segment_capacity;
};

enum heap_status mimalloc_read(struct heap *heap);
/* The address of one of its variables; 0: it is not there. */
uint64_t mimalloc_variable(struct heap *heap);

/* Finds its segments, by address, and variables: mimalloc_find.c. The caller frees segments, also when it is not there.
 */
bool mimalloc_find(struct mimalloc *m);
/* Enters what describes threads' heaps, also of threads that have ended, among what are no roots: a thread's pointer is
 * there, which leads into a block that the thread's stack was in. */
void mimalloc_find_heaps(struct mimalloc *m);

#endif
