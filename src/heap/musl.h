/* musl's malloc. */
#ifndef FT_HEAP_MUSL_H
#define FT_HEAP_MUSL_H

#include "heap/parts.h"

/* The regions and blocks of a heap of which nothing is known yet. HEAP_NOT_FOUND: it is another allocator's. */
enum heap_status musl_read(struct heap *heap);
/* The same, of the malloc that was musl's up to 1.2.0, and that later ones can be built with. */
enum heap_status musl_old_read(struct heap *heap);

#endif
