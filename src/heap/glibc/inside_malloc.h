/* Threads that are inside the C library's malloc. */
#ifndef FT_HEAP_GLIBC_INSIDE_MALLOC_H
#define FT_HEAP_GLIBC_INSIDE_MALLOC_H

#include "heap/heap_private.h"

/* As roots_each()'s. */
typedef void (*inside_callback)(void *context, uint64_t word, uint64_t address, pid_t tid);

/* Calls back with the address of each block that the thread is just giving or taking, as far as it is inside malloc. */
void inside_each(struct heap *heap, const struct heap_thread *thread, inside_callback callback, void *context);

#endif
