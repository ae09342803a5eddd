/* musl's malloc. */
#ifndef FT_HEAP_MUSL_MALLOCNG_H
#define FT_HEAP_MUSL_MALLOCNG_H

#include "heap/heap_private.h"

/* The regions and blocks of a heap of which nothing is known yet. HEAP_NOT_FOUND: it is another allocator's. */
enum heap_status musl_read(struct heap *heap);
/* The same, of the malloc that was musl's up to 1.2.0, and that later ones can be built with. */
enum heap_status musl_old_read(struct heap *heap);
/* Its locks, for heap_locks(). */
size_t musl_old_locks(struct heap *heap, uint64_t *addresses, size_t most);

#endif
