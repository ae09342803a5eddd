/* The program whose heap is scanned. */
#ifndef TEST_HEAP_ALLOCATORS_H
#define TEST_HEAP_ALLOCATORS_H

/* Prints "base" when all its threads run (0: only the main thread), and waits for a byte from the standard input.
 * Works, and prints for each of its blocks the address, the usable size, and whether an alignment was requested; then
 * "end" and the bytes in use by the allocator's count. Then it waits until it is killed. Returns if no known allocator
 * is preloaded. */
int allocate(unsigned threads, unsigned seed);

#endif
