/* The code of an allocator that is an object of its own, and threads in it. */
#ifndef FT_HEAP_ALLOCATOR_CODE_H
#define FT_HEAP_ALLOCATOR_CODE_H

#include "heap/heap_private.h"

/* The path of the shared object that has an address among its variables; NULL: it is a program, whose other code lies
 * beside the allocator's, or none. */
const char *code_object(const struct heap_image *image, uint64_t address);
/* Whether a pc is in the code of the object that has an address among its variables. */
bool code_is_beside(const struct heap_image *image, uint64_t variable, uint64_t pc);
/* Whether it is the path of the C library, or of the threads' library that older ones have beside it: what allocators
 * call, and where the C library's own one is. */
bool code_is_c_library(const char *path);
/* Whether no thread runs code of that object, or what the object has called; else false, and heap->reason. */
bool code_is_left(struct heap *heap, uint64_t address);

#endif
