/* The structures of mimalloc 2.0.9 in memory, on 64-bit processors. Secure builds, whose lists are encoded, and
 * debug builds are not supported.
 *
 * A segment is aligned to 32 MiB and has slices of 64 KiB. A page is one or more slices with blocks of one size; the
 * page's description is at the start of the segment. A page has three lists of free blocks: blocks to allocate next,
 * blocks released by the page's own thread, and blocks released by other threads. If a page is full and another
 * thread releases a block of it, one such block goes to a list of the page's heap instead. */
#ifndef FT_HEAP_MIMALLOC_MIMALLOC_H
#define FT_HEAP_MIMALLOC_MIMALLOC_H

#include "heap/heap_private.h"

#define SEGMENT_BYTES (32ull << 20)
#define SLICE_BYTES   (64ull << 10)
#define SLICES        512u

/* Offsets in mi_segment_t. */
#define SEGMENT_ABANDONED 192 /* number of pages without a heap */
#define SEGMENT_USED      208 /* number of pages in use */
#define SEGMENT_COOKIE    216
#define SEGMENT_SLICES    224
#define SEGMENT_INFO      232 /* number of slices that contain the pages' descriptions */
#define SEGMENT_KIND      240
#define SEGMENT_ENTRIES   248
#define SEGMENT_THREAD    256
#define SEGMENT_PAGES     264

/* Offsets in mi_page_t. */
#define PAGE_BYTES    80u
#define PAGE_CAPACITY 10
#define PAGE_RESERVED 12
#define PAGE_FLAGS    14 /* a byte of flags; HAS_ALIGNED (2): the program's blocks may begin inside mimalloc's blocks */
#define PAGE_FREE     16
#define PAGE_USED     24
#define PAGE_SIZE     28
#define PAGE_LOCAL    32
#define PAGE_THREADS  40
#define PAGE_HEAP     48

/* Offsets in mi_heap_t. */
#define HEAP_DELAYED 2840
#define HEAP_THREAD  2848
#define HEAP_COOKIE  2864
#define HEAP_RANDOM  2888 /* state of the heap's random generator; the state begins with a constant */
#define HEAP_PAGES   3024
#define HEAP_BYTES   3064u

struct mimalloc {
	struct heap *heap;
	uint64_t cookie; /* random number of the first thread's heap; a segment has it xored with its own address */
	uint64_t main;   /* address of the first thread's heap */
	uint64_t *segments;
	size_t segment_count, segment_capacity;
};

/* Reads regions and blocks into an empty heap. Returns HEAP_NOT_FOUND if the image contains no mimalloc of this
 * version. */
enum heap_status mimalloc_read(struct heap *heap);
/* Returns the address of one of mimalloc's variables, or 0 if the image has no mimalloc. */
uint64_t mimalloc_variable(struct heap *heap);

/* Finds the segments, in order of address, and the main heap; see mimalloc_find.c. Returns false if there is no
 * mimalloc. The caller frees m->segments in either case. */
bool mimalloc_find(struct mimalloc *m);
/* Excludes the descriptions of threads' heaps, also of ended threads, from the roots: each contains a thread
 * pointer, which may point into the block that was the thread's stack. */
void mimalloc_find_heaps(struct mimalloc *m);

#endif
