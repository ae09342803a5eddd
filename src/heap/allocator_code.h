/* Finds the shared object that contains an allocator, and the threads that run the allocator's code. */
#ifndef FT_HEAP_ALLOCATOR_CODE_H
#define FT_HEAP_ALLOCATOR_CODE_H

#include "heap/heap_private.h"

/* Returns the path of the shared object whose variables include an address. Returns NULL if the address is in the
 * program's own variables, because a program contains more code than the allocator's, or if no file has variables
 * there. */
const char *code_object(const struct heap_image *image, uint64_t address);
/* Returns true if a pc is in the code of the object whose variables include the address `variable`. */
bool code_is_beside(const struct heap_image *image, uint64_t variable, uint64_t pc);
/* Returns true if this is the path of the C library, or of the separate libpthread of older versions. Allocators
 * call this code, and the C library's own malloc is part of it. */
bool code_is_c_library(const char *path);
/* Returns true if no thread runs code of the shared object whose variables include `address`, or code called by that
 * object; also if no shared object has variables there. Else returns false and sets heap->reason. */
bool no_thread_in_allocator(struct heap *heap, uint64_t address);

#endif
