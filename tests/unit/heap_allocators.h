/* The program whose heap is scanned. */
#ifndef TEST_HEAP_ALLOCATORS_H
#define TEST_HEAP_ALLOCATORS_H

/* Begins that many threads, at most 8, besides the main thread. Prints "base" when all of them run, and waits for a
 * byte from the standard input. Then works, and prints for each of its blocks the address, the usable size, and whether
 * an alignment was requested; then "end" and the bytes in use by the allocator's count. Then waits until it is killed.
 * Returns if no known allocator is preloaded. */
int allocate(unsigned threads, unsigned seed);

#endif
