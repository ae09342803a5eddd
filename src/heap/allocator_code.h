/* The code of an allocator that is a shared object, and the threads that run it. */
#ifndef FT_HEAP_ALLOCATOR_CODE_H
#define FT_HEAP_ALLOCATOR_CODE_H

#include "heap/heap_private.h"

/* Returns the path of the shared object that has an address among its variables. Returns NULL if that is not a shared
 * object but the program, in which other code is beside the allocator's, or if no file has the address. */
const char *code_object(const struct heap_image *image, uint64_t address);
/* Returns true if a pc is in the code of the object that has `variable` among its variables. */
bool code_is_beside(const struct heap_image *image, uint64_t variable, uint64_t pc);
/* Returns true for the path of the C library, or of the libpthread that older ones have. Allocators call this code, and
 * the C library's own malloc is part of it. */
bool code_is_c_library(const char *path);
/* Returns true if no thread runs code of the object that has the variable at `address`, or code called by it. Else
 * returns false and sets heap->reason. */
bool code_is_left(struct heap *heap, uint64_t address);

#endif
