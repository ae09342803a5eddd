/* Reads the heap in a memory image: its blocks, the allocator's figures, and which blocks are reachable.
 *
 * Only the image is read, neither symbols nor the process. The allocator's structures are checked against each
 * other. If they contradict each other, the heap is inconsistent, and no block of the heap is returned. */
#ifndef FT_HEAP_HEAP_H
#define FT_HEAP_HEAP_H

#include "heap/image.h"

struct heap;

enum heap_status {
	HEAP_READ,
	HEAP_NOT_FOUND,    /* malloc was never called, or the allocator is unknown */
	HEAP_INCONSISTENT, /* the allocator's structures contradict each other: damage, or a thread inside malloc */
	HEAP_UNSUPPORTED,  /* no reader exists for this processor, or for this version of the allocator */
	HEAP_TOO_LARGE,    /* the heap has more blocks, or more memory with blocks, than the tables have room for */
};

/* Returns true if another copy of the process some milliseconds later may have another status. While a thread changes a
 * list, the heap is inconsistent, or its first arena is not found. */
static inline bool heap_status_is_passing(enum heap_status status)
{
	return status == HEAP_INCONSISTENT || status == HEAP_NOT_FOUND;
}

/* The classes of blocks, as valgrind's manual defines them. */
enum heap_class { HEAP_LOST, HEAP_INDIRECT, HEAP_POSSIBLE, HEAP_REACHABLE };

#define HEAP_NONE UINT32_MAX

/* A block that the program has allocated and not released. */
struct heap_block {
	uint64_t address, size; /* `size`: the number of bytes that malloc_usable_size(3) returns */
	enum heap_class class;
};

/* The figures of mallinfo2(3), under the same names, for the whole process. cached_chunks and cached_bytes count the
 * chunks in threads' caches, which mallinfo2(3) counts as in use. */
struct heap_figures {
	uint64_t arenas;
	uint64_t arena, ordblks, smblks, hblks, hblkhd, fsmblks, uordblks, fordblks, keepcost;
	uint64_t cached_chunks, cached_bytes;
	uint64_t bottom, top; /* range of the main arena's memory from brk(2); 0 if the arena has no such memory */
};

/* Reads the heap of an image. The image must not change until heap_free(). Sets *heap to the heap if the result is
 * HEAP_READ, else to NULL. *reason: a static text that says which data is inconsistent or not supported, or NULL. */
enum heap_status heap_read(const struct heap_image *image, struct heap **heap, const char **reason);
/* Does the same as heap_read(). *place: the address of the inconsistent data (of a chunk: the address of its header),
 * 0 if unknown. */
enum heap_status heap_read_placed(const struct heap_image *image, struct heap **heap, const char **reason,
				  uint64_t *place);
void heap_free(struct heap *heap);

struct heap_extent {
	uint64_t address, size;
};

/* Makes a heap of an unknown allocator; heap_add_blocks() adds its blocks. All memory outside of these blocks is
 * searched for roots, including the allocator's own data. Therefore a block is not found lost if only the allocator's
 * data points to it. */
struct heap *heap_without_blocks(const struct heap_image *image);
/* Sorts `extents`, and adds those of them to the heap that are outside of its regions. They may be blocks of any
 * allocator, and need not be all of its blocks. Returns false if there are too many blocks. Must be called before
 * heap_note_block(). */
bool heap_add_blocks(struct heap *heap, struct heap_extent *extents, size_t count);
/* Writes the addresses of the allocator's locks, `most` of them at most. Returns the number of addresses written, 0 if
 * the locks are unknown. A lock is a word of 4 bytes. In a process with several threads it is not 0 while a thread
 * changes the heap. *can_be_marked (may be NULL): true if functrace may mark a held lock as contended, because the
 * locks are the C library's low-level locks (lowlevellock.h: 1 means held; 2 means contended, so that the holder makes
 * a futex call on release). */
size_t heap_locks(const struct heap_image *image, uint64_t *addresses, size_t most, bool *can_be_marked);
/* Returns true if a lock that heap_locks() returns is held in the image. Then a thread may be changing the heap even if
 * the heap is consistent. Returns false if the process has one thread. */
bool heap_is_locked(const struct heap_image *image);
/* Returns the path of the shared object that contains the allocator; the path belongs to the image. Returns NULL if the
 * allocator is unknown, the C library's own, or part of the program. */
const char *heap_object(const struct heap_image *image);
/* Returns the allocator's name: "glibc", "musl", "jemalloc" or "mimalloc". */
const char *heap_allocator(const struct heap *heap);
/* Returns the size that malloc_usable_size(3) would return for a block of `size` bytes; 0 if it is unknown. allocator:
 * a name that heap_allocator() has returned. word: the size of a pointer of the program. */
uint64_t heap_usable_size(const char *allocator, unsigned word, uint64_t size);
/* Returns the allocator's figures. Only glibc has all of them. musl has arena, uordblks and fordblks; its old malloc
 * also has ordblks, hblks and hblkhd. mimalloc has arena, uordblks, fordblks, arenas, cached_chunks and cached_bytes;
 * jemalloc has the same figures as mimalloc, and hblks and hblkhd. */
const struct heap_figures *heap_figures(const struct heap *heap);

/* Records that the program has a block at this address, according to a trace. If the address is inside a block of the
 * heap, a pointer to the address makes that block reachable, too, and true is returned. Returns false if a block of the
 * heap begins at the address, or if no block contains it. Must be called before heap_classify(). */
bool heap_note_block(struct heap *heap, uint64_t address);

/* The additional results that a caller of heap_classify_for() asks for. */
struct classify_options {
	/* Called for each root with the bytes and number of the blocks that were reached first through this root: once
	 * for the reachable blocks, and once more for each block that is possibly lost through the root. address, tid:
	 * the root's location, as heap_root() returns it. */
	void (*owner)(void *context, uint64_t address, pid_t tid, uint64_t bytes, uint64_t blocks);
	void *context;
	bool has_ways; /* if true, the results of heap_way() are stored, which takes 8 bytes a block */
};

/* Sets the class of each block; before that, all blocks are HEAP_LOST. options: may be NULL. In a partial image no
 * block becomes HEAP_LOST or HEAP_INDIRECT: a block to which no pointer was found becomes HEAP_POSSIBLE, without a
 * root. */
void heap_classify_for(struct heap *heap, const struct classify_options *options);
/* Does the same as heap_classify_for() without options. */
void heap_classify(struct heap *heap);
/* Returns the number of blocks. Blocks are numbered from 0 on, in the order of their addresses. */
size_t heap_count(const struct heap *heap);
struct heap_block heap_block(const struct heap *heap, size_t index);
/* Returns how a block was reached, if has_ways was set. *root: the root through which the block was reached first, or
 * HEAP_NONE if no root has led to it. *from: the block that contains the pointer to this block, or HEAP_NONE if the
 * root is the pointer. If *from is followed repeatedly from a HEAP_INDIRECT block, the last block is a HEAP_LOST
 * one. */
void heap_way(const struct heap *heap, size_t index, uint32_t *root, uint32_t *from);
/* Returns true if an address, which may contain a tag, is in a region of the heap. */
bool heap_has(const struct heap *heap, uint64_t address);
/* Returns the bytes and blocks that are indirectly lost through a HEAP_LOST block; 0 for other blocks. */
void heap_lost_by(const struct heap *heap, size_t index, uint64_t *bytes, uint64_t *blocks);
/* Returns the index of the block that contains an address, or HEAP_NONE. The address may contain a tag. */
uint32_t heap_find(const struct heap *heap, uint64_t address);
/* Returns the address of the word that is the root, and sets *tid to 0. If the root is a register, returns 0 and
 * sets *tid to the thread's tid. */
uint64_t heap_root(const struct heap *heap, uint32_t root, pid_t *tid);

#endif
