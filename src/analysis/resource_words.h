/* Words for a number of resources of a kind. */
#ifndef FT_ANALYSIS_RESOURCE_WORDS_H
#define FT_ANALYSIS_RESOURCE_WORDS_H

#include "analysis/resources.h"
#include "base/buf.h"

/* Appends "3 descriptor(s)" or "2 block(s)". If no module of functrace has the kind, its type is the noun. NULL, which
 * means several kinds, and an undeclared kind are counted as blocks. */
void words_count(struct buf *b, const struct resource_state *resource, uint64_t count);
/* Returns the word for resources that are never released: "leaked", "never joined". */
const char *words_left(const struct resource_state *resource);
/* Returns true if the sum of the sizes is worth showing: bytes are, but descriptors have only a number. */
bool words_have_size(const struct resource_state *resource, uint64_t size);

#endif
