/* The structures of mimalloc 2.0.9 in memory, on 64-bit processors. Secure builds, whose lists are encoded, and debug
 * builds are not supported.
 *
 * A segment is aligned to 32 MiB and has slices of 64 KiB. A page is some slices, for blocks of one size; its
 * description is at the begin of the segment. The free blocks of a page are in three lists: free, released again by the
 * page's own thread, and released by other threads. Of a full page, one block that another thread has released is in a
 * list of the page's heap instead. */
#ifndef FT_HEAP_MIMALLOC_MIMALLOC_H
#define FT_HEAP_MIMALLOC_MIMALLOC_H

#include "heap/heap_private.h"

#define SEGMENT_BYTES (32ull << 20)
#define SLICE_BYTES   (64ull << 10)
#define SLICES        512u

/* Offsets in mi_segment_t. */
#define SEGMENT_ABANDONED 192 /* pages without a heap */
#define SEGMENT_USED      208 /* pages */
#define SEGMENT_COOKIE    216
#define SEGMENT_SLICES    224
#define SEGMENT_INFO      232 /* slices for the descriptions */
#define SEGMENT_KIND      240
#define SEGMENT_ENTRIES   248
#define SEGMENT_THREAD    256
#define SEGMENT_PAGES     264

/* Offsets in mi_page_t. */
#define PAGE_BYTES    80u
#define PAGE_CAPACITY 10
#define PAGE_RESERVED 12
#define PAGE_FLAGS    14 /* a byte; 2: blocks may begin at aligned addresses inside their room */
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
#define HEAP_RANDOM  2888 /* state of its random generator, which begins with a constant */
#define HEAP_PAGES   3024
#define HEAP_BYTES   3064u

struct mimalloc {
	struct heap *heap;
	uint64_t cookie; /* of the first thread's heap; each segment contains it, xored with its own address */
	uint64_t main;   /* address of that heap */
	uint64_t *segments;
	size_t segment_count, segment_capacity;
};

/* Reads regions and blocks into an empty heap. Returns HEAP_NOT_FOUND if the image has no mimalloc of this version. */
enum heap_status mimalloc_read(struct heap *heap);
/* Returns the address of one of mimalloc's variables, or 0 if the image has no mimalloc. */
uint64_t mimalloc_variable(struct heap *heap);

/* Finds the segments, in order of address, and the main heap: mimalloc_find.c. Returns false if there is no mimalloc.
 * The caller frees m->segments in either case. */
bool mimalloc_find(struct mimalloc *m);
/* Excludes the descriptions of threads' heaps, also of ended threads, from the roots: each contains a thread pointer,
 * which may lead into the block that was the thread's stack. */
void mimalloc_find_heaps(struct mimalloc *m);

#endif
