/* The program whose heap is scanned. */
#ifndef TEST_HEAP_ALLOCATORS_H
#define TEST_HEAP_ALLOCATORS_H

/* Starts that many threads, at most 8, besides the main thread. Prints "base" when all of them run, and waits for a
 * byte from the standard input. Then all threads allocate and release blocks. Prints for each block that is left the
 * address, the usable size, and whether an alignment was requested; then "end" and the allocator's own figure of the
 * bytes in use. Then waits until it is killed. Returns if no known allocator is preloaded. */
int allocate(unsigned threads, unsigned seed);

#endif
