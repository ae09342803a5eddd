/* What is remembered of blocks: of a live one who made it and when, of the last released ones who released them. */
#ifndef FT_RECORD_BLOCKS_H
#define FT_RECORD_BLOCKS_H

#include "record/trace.h"

/* A live block. It is kept as one number, so that a large program's millions of them need no more memory than their
 * sizes would. */
struct block {
	uint64_t size;     /* the largest that can be kept is BLOCK_SIZE_MAX */
	uint64_t event;    /* its allocation's number in the trace; 0: not known, of large blocks and late events */
	unsigned maker;    /* function_number(); 0 not known */
	bool is_inherited; /* from before the fork */
};

#define BLOCK_SIZE_MAX ((1ull << 54) - 1)

uint64_t block_pack(const struct block *block);
struct block block_unpack(uint64_t packed);
/* The same one, in a fork's child. */
uint64_t block_inherited(uint64_t packed);

/* A number for a function by the name of its calls; 0: there are too many of them. It outlives the function. */
unsigned function_number(struct run *run, const struct traced *function);
/* Of a number that is not 0: the name in the trace, and the family, NULL if it may go together with any. */
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
/* What has released the id, which is not live, last; NULL: not known (any more). */
const struct release *releases_find(const struct live_set *live, uint64_t id);

#endif
