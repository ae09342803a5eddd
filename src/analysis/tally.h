/* A number of calls or blocks, and the sum of their sizes in bytes, which saturates. */
#ifndef FT_ANALYSIS_TALLY_H
#define FT_ANALYSIS_TALLY_H

#include "base/util.h"

struct tally {
	uint64_t calls, bytes;
};

static inline void tally_add(struct tally *tally, uint64_t bytes)
{
	tally->calls++;
	tally->bytes = add_saturated(tally->bytes, bytes);
}

static inline void tally_take(struct tally *tally, uint64_t bytes)
{
	tally->calls--;
	/* A saturated sum cannot be reduced exactly. */
	tally->bytes = tally->bytes > bytes ? tally->bytes - bytes : 0;
}

static inline void tally_join(struct tally *to, const struct tally *more)
{
	to->calls += more->calls;
	to->bytes = add_saturated(to->bytes, more->bytes);
}

/* Subtracts `part` from `from`, but does not go below 0, because the parts of a saturated sum can be greater than the
 * sum. */
static inline void tally_subtract(struct tally *from, const struct tally *part)
{
	from->calls -= part->calls < from->calls ? part->calls : from->calls;
	from->bytes -= part->bytes < from->bytes ? part->bytes : from->bytes;
}

/* Returns the order of two tallies by bytes, and by calls if the bytes are equal, as qsort() wants it. */
static inline int compare_tallies(const struct tally *a, const struct tally *b)
{
	return compare_u64(a->bytes, b->bytes) ?: compare_u64(a->calls, b->calls);
}

#endif
