/* The heap in a memory image: its blocks, the allocator's figures, and what is reachable.
 *
 * Nothing but the image is asked: neither symbols nor the process. All that is found is checked against everything else
 * that the allocator keeps; a heap that does not agree with itself is inconsistent, and nothing of it is shown. */
#ifndef FT_HEAP_HEAP_H
#define FT_HEAP_HEAP_H

#include "heap/image.h"

struct heap;

enum heap_status {
	HEAP_READ,
	HEAP_NOT_FOUND,    /* malloc was never called, or it is none that is known here */
	HEAP_INCONSISTENT, /* a thread was in the midst of malloc, or the heap is damaged */
	HEAP_UNSUPPORTED,  /* of a processor whose heaps are not read */
	HEAP_TOO_LARGE,    /* more blocks than can be counted */
};

/* Classes as valgrind's manual defines them. */
enum heap_class { HEAP_LOST, HEAP_INDIRECT, HEAP_POSSIBLE, HEAP_REACHABLE };

#define HEAP_NONE UINT32_MAX

/* A block that the program has. */
struct heap_block {
	uint64_t address, size; /* as malloc_usable_size(3) has it */
	enum heap_class class;
};

/* As mallinfo2(3) names them, for the whole process; and what it counts as in use though it is in threads' caches. */
struct heap_figures {
	uint64_t arenas;
	uint64_t arena, ordblks, smblks, hblks, hblkhd, fsmblks, uordblks, fordblks, keepcost;
	uint64_t cached_chunks, cached_bytes;
	uint64_t bottom, top; /* what brk(2) gave the main arena; 0 nothing */
};

/* Reads the heap of an image, which must stay as it is until heap_free(). *reason (a static text, or NULL): what does
 * not agree, or is not supported. *heap is NULL but for HEAP_READ. */
enum heap_status heap_read(const struct heap_image *image, struct heap **heap, const char **reason);
/* The same; *place: the address of what does not agree (of a chunk its header's), 0 unknown. */
enum heap_status heap_read_placed(const struct heap_image *image, struct heap **heap, const char **reason,
				  uint64_t *place);
void heap_free(struct heap *heap);

struct heap_extent {
	uint64_t address, size;
};

/* A heap of any allocator, whose blocks somebody else knows; `extents`, which are sorted by this, need not be all of
 * them. What else is in its memory, the allocator's own words too, counts as roots: what only these know is not found
 * lost. NULL: more blocks than can be counted. */
struct heap *heap_of_blocks(const struct heap_image *image, struct heap_extent *extents, size_t count);
/* The addresses of the words of 4 bytes, `most` of them at most, that are not 0 while a thread of several is in the
 * midst of changing the heap: its arenas' locks. *can_be_marked (may be NULL): they are of the C library's kind
 * (lowlevellock.h: 1 held, 2 held and others may wait, whom the holder wakes by a futex call). How many; 0 unknown. */
size_t heap_locks(const struct heap_image *image, uint64_t *addresses, size_t most, bool *can_be_marked);
/* Whether one of those is held in the image: a thread may be in the midst of changing the heap, though it agrees with
 * itself. False in a process of one thread. */
bool heap_is_locked(const struct heap_image *image);
/* The path of the shared object that has the allocator's code, where that is not the C library; NULL: it is that, or
 * part of the program. The path is the image's. */
const char *heap_object(const struct heap_image *image);
/* Whose it is: "glibc", "musl", "jemalloc", "mimalloc". The figures are glibc's; of musl only arena, uordblks and
 * fordblks, of its old malloc ordblks, hblks and hblkhd besides; of jemalloc and mimalloc also arenas, hblks, hblkhd
 * and what is cached. */
const char *heap_allocator(const struct heap *heap);
const struct heap_figures *heap_figures(const struct heap *heap);

/* The program has a block at this address, as a trace says: where it lies inside one of the heap's, a pointer to it
 * keeps that one, too. False: it does not, or is in none. Before heap_classify(). */
bool heap_know(struct heap *heap, uint64_t address);

/* What is to be known of how blocks are reached. */
struct heap_wish {
	/* Called for what is reachable, possibly lost too, by the root through which it was reached first: where that
	 * is, as heap_root() says. Once for each root, and once more for each block that is possibly lost by it. */
	void (*owner)(void *context, uint64_t address, pid_t tid, uint64_t bytes, uint64_t blocks);
	void *context;
	bool has_ways; /* for heap_way(), which takes 8 bytes more for each block */
};

/* Finds out what is reachable; wish: NULL: only that. Before it, all blocks are HEAP_LOST. Of an image that is
 * partial none is HEAP_LOST or HEAP_INDIRECT after it: a block that nothing leads to is HEAP_POSSIBLE then, without a
 * root. */
void heap_classify_for(struct heap *heap, const struct heap_wish *wish);
void heap_classify(struct heap *heap);
/* The blocks are numbered from 0 on, by address. */
size_t heap_count(const struct heap *heap);
struct heap_block heap_block(const struct heap *heap, size_t index);
/* The way to a block, of a heap whose ways were asked for. *root: a root, by which it was reached first; HEAP_NONE: it
 * is lost. *from: the block in which the pointer to it was found; HEAP_NONE: in the root itself. Of a HEAP_INDIRECT
 * one, too: at last it leads to one that is HEAP_LOST. */
void heap_way(const struct heap *heap, size_t index, uint32_t *root, uint32_t *from);
/* Whether an address, which may have a tag, is in memory that the allocator has for blocks. */
bool heap_has(const struct heap *heap, uint64_t address);
/* What is indirectly lost by a block that is HEAP_LOST; 0 of others. */
void heap_lost_by(const struct heap *heap, size_t index, uint64_t *bytes, uint64_t *blocks);
/* The index of the block that an address, which may have a tag, is in; HEAP_NONE. */
uint32_t heap_find(const struct heap *heap, uint64_t address);
/* Where the pointer is that makes it a root; *tid: of a register, whose, and the address is 0; else 0. */
uint64_t heap_root(const struct heap *heap, uint32_t root, pid_t *tid);

#endif
