/* Finds the memory of threads' stacks, and which ranges of it no function uses. */
#ifndef FT_HEAP_THREAD_STACKS_H
#define FT_HEAP_THREAD_STACKS_H

#include "heap/heap_private.h"

/* The memory of a thread's stack, as the C library recorded it when it created the thread. */
struct thread_stack {
	uint64_t start, end; /* without the guard pages */
	bool has_guard;      /* true if the stack has guard pages; then the C library mapped it, not the program */
};

/* Finds a thread's stack by its thread pointer. Returns false if the C library did not create the thread, as for the
 * first thread, or if the C library is unknown. */
bool stack_memory_of(struct heap *heap, uint64_t thread_pointer, struct thread_stack *memory);
/* Calls back for each stack of an ended thread that the C library keeps for a new thread. Finds such stacks only if
 * arch_tls.has_self is set. */
void stacks_each_left(struct heap *heap,
		      void (*callback)(void *context, uint64_t control_block, const struct thread_stack *memory),
		      void *context);
/* Returns the ranges of stacks that no function uses. The ranges are not sorted, and may overlap. The caller frees
 * the array. */
struct range *stacks_unused(struct heap *heap, size_t *count);

#endif
