/* Words of glibc's malloc in blocks. */
#ifndef FT_HEAP_GLIBC_LIST_LINKS_H
#define FT_HEAP_GLIBC_LIST_LINKS_H

#include "heap/heap_private.h"

/* Whether a word in a block, at `at`, which leads into the midst of another one, was left there by malloc's lists. */
bool link_is_of_malloc(struct heap *heap, const struct heap_block *block, uint64_t at, uint64_t word);

#endif
