/* Chooses the words of messages about resources of one kind. */
#ifndef FT_ANALYSIS_RESOURCE_WORDS_H
#define FT_ANALYSIS_RESOURCE_WORDS_H

#include "analysis/resources.h"
#include "analysis/tally.h"
#include "base/buf.h"

/* Appends a count with a noun: "3 descriptor(s)", "2 block(s)". If no module of functrace contains the kind, the noun
 * is the kind's type if this is a word, else "block". The noun is also "block" if the kind is undeclared, or if
 * `resource` is NULL, which means several kinds. A RESOURCE_CALL resource always has the noun "call". */
void words_count(struct buf *b, const struct resource_state *resource, uint64_t count);
/* Returns the word for resources that are never released: "leaked", "never joined". */
const char *words_left(const struct resource_state *resource);
/* Returns true if `size`, the sum of the sizes, should be printed: for memory, for an undeclared kind, and for several
 * kinds (NULL). Returns false for kinds without a size (descriptors). For a declared kind that no module contains,
 * returns true if the sum is not 0. */
bool words_have_size(const struct resource_state *resource, uint64_t size);
/* Appends the line "2 block(s) still reachable with total size of 66 bytes: not shown", in which `words` is "still
 * reachable". Appends nothing if sum->calls is 0. */
void words_not_shown(struct buf *out, const struct resource_state *resource, const struct tally *sum,
		     const char *words);

#endif
