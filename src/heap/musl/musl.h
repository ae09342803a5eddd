/* Readers for heaps of musl's two mallocs. */
#ifndef FT_HEAP_MUSL_MUSL_H
#define FT_HEAP_MUSL_MUSL_H

#include "heap/heap_private.h"

/* Reads the regions and blocks of musl's malloc from 1.2.1 on into an empty heap. Returns HEAP_NOT_FOUND if the image
 * has no such malloc. */
enum heap_status musl_read(struct heap *heap);
/* Does the same as musl_read() for the malloc of musl up to 1.2.0, with which later versions can be built, too. */
enum heap_status musl_old_read(struct heap *heap);
/* Writes the addresses of the old malloc's locks for heap_locks(), `most` of them at most. Returns the number of
 * addresses written. */
size_t musl_old_locks(struct heap *heap, uint64_t *addresses, size_t most);

#endif
