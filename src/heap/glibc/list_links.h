/* Recognises the links that glibc's malloc leaves in blocks. */
#ifndef FT_HEAP_GLIBC_LIST_LINKS_H
#define FT_HEAP_GLIBC_LIST_LINKS_H

#include "heap/heap_private.h"

/* Returns true if a word, which is at `at` in a block and leads into another block, was left there by malloc's
 * lists. */
bool link_is_of_malloc(struct heap *heap, const struct heap_block *block, uint64_t at, uint64_t word);

#endif
