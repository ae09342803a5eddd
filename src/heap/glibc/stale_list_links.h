/* Recognises list pointers of glibc's malloc that remain in blocks. */
#ifndef FT_HEAP_GLIBC_STALE_LIST_LINKS_H
#define FT_HEAP_GLIBC_STALE_LIST_LINKS_H

#include "heap/heap_private.h"

/* Returns true if a word in a block is an old link of malloc's lists. The word is at address `at` in the block, and
 * points into another block. */
bool link_is_of_malloc(struct heap *heap, const struct heap_block *block, uint64_t at, uint64_t word);

#endif
