/* The program whose heap is looked at. */
#ifndef TEST_HEAP_ALLOCATORS_H
#define TEST_HEAP_ALLOCATORS_H

/* Prints "base" when all its threads are there (0: it has only the main one), and waits for a byte from the standard
 * input. Works, and prints of each block that it has its address, its usable size, and whether it was asked to be
 * aligned; then "end" and the bytes in use as the allocator counts them. Stands until it is killed. Returns when no
 * allocator is preloaded that is known to it. */
int allocate(unsigned threads, unsigned seed);

#endif
