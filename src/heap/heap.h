/* Reads the heap in a memory image: its blocks, the allocator's figures, and which blocks are reachable.
 *
 * Only the image is read, neither symbols nor the process. Everything found is checked against everything else that the
 * allocator keeps. If the heap is inconsistent, nothing of it is shown. */
#ifndef FT_HEAP_HEAP_H
#define FT_HEAP_HEAP_H

#include "heap/image.h"

struct heap;

enum heap_status {
	HEAP_READ,
	HEAP_NOT_FOUND,    /* malloc was never called, or the allocator is unknown */
	HEAP_INCONSISTENT, /* a thread was inside malloc, or the heap is damaged */
	HEAP_UNSUPPORTED,  /* heaps of this processor are not read */
	HEAP_TOO_LARGE,    /* more blocks, or more memory with blocks, than the tables can have */
};

/* The classes of blocks, as valgrind's manual defines them. */
enum heap_class { HEAP_LOST, HEAP_INDIRECT, HEAP_POSSIBLE, HEAP_REACHABLE };

#define HEAP_NONE UINT32_MAX

/* A block that the program has allocated and not released. */
struct heap_block {
	uint64_t address, size; /* `size`: what malloc_usable_size(3) returns */
	enum heap_class class;
};

/* The figures of mallinfo2(3), with its names, for the whole process. cached_chunks and cached_bytes are in threads'
 * caches; mallinfo2(3) counts them as in use. */
struct heap_figures {
	uint64_t arenas;
	uint64_t arena, ordblks, smblks, hblks, hblkhd, fsmblks, uordblks, fordblks, keepcost;
	uint64_t cached_chunks, cached_bytes;
	uint64_t bottom, top; /* the main arena's memory from brk(2); 0 if there is none */
};

/* Reads the heap of an image, which must not change until heap_free(). Sets *heap if it returns HEAP_READ, and else to
 * NULL. *reason: a static text that says what is inconsistent or not supported, or NULL. */
enum heap_status heap_read(const struct heap_image *image, struct heap **heap, const char **reason);
/* The same. *place: the address of what is inconsistent (for a chunk, of its header), 0 if unknown. */
enum heap_status heap_read_placed(const struct heap_image *image, struct heap **heap, const char **reason,
				  uint64_t *place);
void heap_free(struct heap *heap);

struct heap_extent {
	uint64_t address, size;
};

/* Makes a heap of any allocator from a list of its blocks. Sorts `extents`, which need not contain all blocks. All
 * other memory counts as roots, the allocator's own words too: a block to which only these lead is not found lost.
 * Returns NULL if there are too many blocks. */
struct heap *heap_of_blocks(const struct heap_image *image, struct heap_extent *extents, size_t count);
/* Writes the addresses of the locks of the heap's arenas, `most` of them at most. Returns how many, 0 if unknown. A
 * lock is a word of 4 bytes; in a process of several threads it is not 0 while a thread changes the heap.
 * *can_be_marked (may be NULL): the locks are of the C library's kind (lowlevellock.h: 1 is held, 2 is held and other
 * threads may wait, which the holder wakes by a futex call). */
size_t heap_locks(const struct heap_image *image, uint64_t *addresses, size_t most, bool *can_be_marked);
/* Returns true if one of these locks is held in the image: a thread may be changing the heap even if the heap is
 * consistent. Returns false for a process of one thread. */
bool heap_is_locked(const struct heap_image *image);
/* Returns the path of the shared object that contains the allocator; the path belongs to the image. Returns NULL if the
 * allocator is unknown, the C library's own, or part of the program. */
const char *heap_object(const struct heap_image *image);
/* Returns the allocator's name: "glibc", "musl", "jemalloc" or "mimalloc". */
const char *heap_allocator(const struct heap *heap);
/* Returns the allocator's figures. Only glibc has all of them. musl has arena, uordblks and fordblks; its old malloc
 * also has ordblks, hblks and hblkhd. mimalloc has arena, uordblks, fordblks, arenas, cached_chunks and cached_bytes;
 * jemalloc also has hblks and hblkhd. */
const struct heap_figures *heap_figures(const struct heap *heap);

/* Notes that the program has a block at this address, as a trace says. If the address is inside a block of the heap, a
 * pointer to it keeps that block too. Returns true in that case; false if a block begins at the address, or none
 * contains it. To be called before heap_classify(). */
bool heap_note_block(struct heap *heap, uint64_t address);

/* What a caller of heap_classify_for() wants to learn about the ways to blocks. */
struct classify_options {
	/* Called with the number and bytes of the blocks that were reached through a root first: once for its reachable
	 * blocks, and once more for each block that is possibly lost through it. address, tid: the root's place, as
	 * heap_root() returns it. */
	void (*owner)(void *context, uint64_t address, pid_t tid, uint64_t bytes, uint64_t blocks);
	void *context;
	bool has_ways; /* keep what heap_way() returns, which takes 8 bytes for each block */
};

/* Sets the class of each block; before that, all blocks are HEAP_LOST. options: may be NULL. In a partial image no
 * block becomes HEAP_LOST or HEAP_INDIRECT: a block to which nothing leads becomes HEAP_POSSIBLE, without a root. */
void heap_classify_for(struct heap *heap, const struct classify_options *options);
/* The same without options. */
void heap_classify(struct heap *heap);
/* Returns the number of blocks. Blocks are numbered from 0 on, in the order of their addresses. */
size_t heap_count(const struct heap *heap);
struct heap_block heap_block(const struct heap *heap, size_t index);
/* Returns the way to a block, if has_ways was wished. *root: the root through which the block was reached first, or
 * HEAP_NONE if the block is lost. *from: the block that contains the pointer to it, or HEAP_NONE if the root is the
 * pointer. From a HEAP_INDIRECT block, *from leads step by step to a HEAP_LOST block. */
void heap_way(const struct heap *heap, size_t index, uint32_t *root, uint32_t *from);
/* Returns true if an address, which may have a tag, is in a region of the heap. */
bool heap_has(const struct heap *heap, uint64_t address);
/* Returns the bytes and blocks that are indirectly lost through a HEAP_LOST block; 0 for other blocks. */
void heap_lost_by(const struct heap *heap, size_t index, uint64_t *bytes, uint64_t *blocks);
/* Returns the index of the block that contains an address, which may have a tag, or HEAP_NONE. */
uint32_t heap_find(const struct heap *heap, uint64_t address);
/* Returns the address of the word that is the root, with 0 in *tid. If the root is a register, returns 0, with the
 * thread's tid in *tid. */
uint64_t heap_root(const struct heap *heap, uint32_t root, pid_t *tid);

#endif
