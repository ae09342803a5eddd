/* Stores the function and the event that allocated each live block, and the functions that released the most recently
 * released blocks. */
#ifndef FT_RECORD_RELEASED_BLOCKS_H
#define FT_RECORD_RELEASED_BLOCKS_H

#include "record/trace.h"

/* A live block. It is stored packed in 64 bits, so that the millions of blocks of a large program take no more memory
 * than their sizes alone would take. */
struct live_block {
	uint64_t size; /* at most BLOCK_SIZE_MAX */
	/* number of the allocation's event in the trace; 0 if it is unknown or above UINT32_MAX, or if the block is
	 * large */
	uint64_t event;
	unsigned maker; /* function_number() of the allocating function; 0 if unknown */
	bool is_older;  /* allocated before the trace, or before the fork with which the trace began */
};

#define BLOCK_SIZE_MAX ((1ull << 54) - 1)

/* Packs a block into one number. A size above BLOCK_SIZE_MAX becomes BLOCK_SIZE_MAX. */
uint64_t block_pack(const struct live_block *block);
struct live_block block_unpack(uint64_t packed);
/* Returns the packed block with is_older set, for a fork's child, whose trace begins at the fork. */
uint64_t block_older(uint64_t packed);

/* Returns the family of the blocks that a function allocates or releases; NULL if it may be any family. */
static inline const char *traced_family(const struct traced *function)
{
	return function->any_family ? NULL : function->function->family;
}

/* Returns a number for a function's name and family. The number stays valid when the function is freed. Returns 0 for a
 * new function if 255 functions have numbers already. */
unsigned function_number(struct run *run, const struct traced *function);
/* Clears the cache of function_number(). To be called before a struct traced is freed, because another one may get its
 * address. */
void functions_forget_last(struct run *run);
/* function_shown() returns the name in the trace, and function_family() the family (NULL: any), of the function with
 * that number, which must not be 0. */
const char *function_shown(const struct run *run, unsigned number);
const char *function_family(const struct run *run, unsigned number);
void functions_free(struct run *run);

/* A release: its id, the number of its event in the trace, and the number of its function. */
struct release {
	uint64_t id, event;
	unsigned releaser;
};

/* Stores a release. This may overwrite the release of another id. */
void releases_keep(struct live_set *live, const struct release *release);
/* Returns the last release of an id that is not live; NULL if the id was never released, or its release was
 * overwritten. */
const struct release *releases_find(const struct live_set *live, uint64_t id);

#endif
