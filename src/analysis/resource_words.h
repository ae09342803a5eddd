/* How many of a kind of resource, in the words of what it is. */
#ifndef FT_ANALYSIS_RESOURCE_WORDS_H
#define FT_ANALYSIS_RESOURCE_WORDS_H

#include "analysis/resources.h"
#include "base/buf.h"

/* "3 descriptor(s)", "2 block(s)": of a kind that no module of functrace's has, its type is the noun. NULL: several
 * kinds, or one that is not declared: blocks. */
void words_count(struct buf *b, const struct resource_state *resource, uint64_t count);
/* What those are that are never released: "leaked", "never joined". */
const char *words_left(const struct resource_state *resource);
/* Whether that sum of their sizes says anything: bytes do, a number of descriptors is their count. */
bool words_have_size(const struct resource_state *resource, uint64_t size);

#endif
