/* Finds the blocks that a thread inside the C library's malloc is allocating or releasing. */
#ifndef FT_HEAP_GLIBC_INSIDE_MALLOC_H
#define FT_HEAP_GLIBC_INSIDE_MALLOC_H

#include "heap/heap_private.h"

/* A function with the parameters of the callback of roots_each(). */
typedef void (*inside_callback)(void *context, uint64_t word, uint64_t address, pid_t tid);

/* Calls back with the address of each block that the thread, if it is inside malloc, is allocating or releasing. */
void inside_each(struct heap *heap, const struct heap_thread *thread, inside_callback callback, void *context);

#endif
