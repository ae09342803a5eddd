/* Finds memory that is nothing but a thread's stack. */
#ifndef FT_HEAP_THREAD_STACKS_H
#define FT_HEAP_THREAD_STACKS_H

#include "heap/heap_private.h"

/* The memory of a thread's stack, as the C library noted it when it made the thread. */
struct thread_stack {
	uint64_t start, end; /* without the guard pages */
	bool has_guard;      /* the C library mapped it, not the program */
};

/* Finds a thread's stack by its thread pointer. Returns false if the C library did not make the thread (the first one),
 * or is unknown. */
bool stack_memory_of(struct heap *heap, uint64_t thread_pointer, struct thread_stack *memory);
/* Calls back for each stack of an ended thread that the C library keeps for another one. It finds none unless
 * arch_tls.has_self is set. */
void stacks_each_left(struct heap *heap,
		      void (*callback)(void *context, uint64_t control_block, const struct thread_stack *memory),
		      void *context);
/* Returns the parts of stacks that no function uses. They are not sorted, and may overlap. The caller frees them. */
struct range *stacks_unused(struct heap *heap, size_t *count);

#endif
