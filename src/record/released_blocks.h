/* Remembers the function and the event that made each live block, and the functions that released the last blocks. */
#ifndef FT_RECORD_RELEASED_BLOCKS_H
#define FT_RECORD_RELEASED_BLOCKS_H

#include "record/trace.h"

/* A live block. It is stored as one packed number, so that the millions of blocks of a large program need no more
 * memory than their sizes would. */
struct live_block {
	uint64_t size;  /* at most BLOCK_SIZE_MAX */
	uint64_t event; /* number of its allocation in the trace; 0 if unknown: of large blocks, and above UINT32_MAX */
	unsigned maker; /* function_number() of its allocation; 0 if unknown */
	bool is_older;  /* from before the trace, or the fork that began it */
};

#define BLOCK_SIZE_MAX ((1ull << 54) - 1)

/* Packs a block into one number, and unpacks it. Larger sizes become BLOCK_SIZE_MAX. */
uint64_t block_pack(const struct live_block *block);
struct live_block block_unpack(uint64_t packed);
/* Returns a packed block as a fork's child has it: older than the child's trace. */
uint64_t block_older(uint64_t packed);

/* Returns the family of the blocks that a function allocates or releases; NULL if they may be of any family. */
static inline const char *traced_family(const struct traced *function)
{
	return function->any_family ? NULL : function->function->family;
}

/* Returns a number for a function's name and family, which stays valid when the function is freed; 0 if there are too
 * many. */
unsigned function_number(struct run *run, const struct traced *function);
/* Forgets pointers to functions. To be called before a struct traced is freed, because another one may get its
 * address. */
void functions_forget_last(struct run *run);
/* Returns the name in the trace of a function, by its number, which must not be 0, and its family; NULL if that may be
 * any. */
const char *function_shown(const struct run *run, unsigned number);
const char *function_family(const struct run *run, unsigned number);
void functions_free(struct run *run);

/* A release: its id, the number of its event in the trace, and the number of its function. */
struct release {
	uint64_t id, event;
	unsigned releaser;
};

/* Remembers the release. This may replace an older release of another id. */
void releases_keep(struct live_set *live, const struct release *release);
/* Returns the last release of an id that is not live; NULL if it is unknown or forgotten. */
const struct release *releases_find(const struct live_set *live, uint64_t id);

#endif
