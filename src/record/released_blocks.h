/* The memory of blocks: the function that made a live one and when, and the functions that released the last ones. */
#ifndef FT_RECORD_RELEASED_BLOCKS_H
#define FT_RECORD_RELEASED_BLOCKS_H

#include "record/trace.h"

/* A live block. It is kept as one number, so that a large program's millions of them need no more memory than their
 * sizes would. */
struct released_block {
	uint64_t size;  /* the largest that can be kept is BLOCK_SIZE_MAX */
	uint64_t event; /* its allocation's number in the trace; 0: not known, of large blocks and late events */
	unsigned maker; /* function_number(); 0 not known */
	bool is_older;  /* from before the trace, or the fork that began it */
};

#define BLOCK_SIZE_MAX ((1ull << 54) - 1)

uint64_t block_pack(const struct released_block *block);
struct released_block block_unpack(uint64_t packed);
/* The same block as a fork's child has it. */
uint64_t block_older(uint64_t packed);

/* The family of what a function allocates or releases, NULL if that may go together with any. */
static inline const char *traced_family(const struct traced *function)
{
	return function->any_family ? NULL : function->function->family;
}

/* A number for a function by the name of its calls; 0: there are too many of them. It outlives the function. */
unsigned function_number(struct run *run, const struct traced *function);
/* A struct traced is going: another one may come to its place in memory. */
void functions_forget_last(struct run *run);
/* The name in the trace of the function with that number, which is not 0, and its family, NULL if it may go together
 * with any. */
const char *function_shown(const struct run *run, unsigned number);
const char *function_family(const struct run *run, unsigned number);
void functions_free(struct run *run);

/* A release: who made it, and its number in the trace. */
struct release {
	uint64_t id, event;
	unsigned releaser;
};

/* Keeps the release; some older ones of other ids are forgotten for it. */
void releases_keep(struct live_set *live, const struct release *release);
/* The last release of an id that is not live; NULL: it is not known (any more). */
const struct release *releases_find(const struct live_set *live, uint64_t id);

#endif
