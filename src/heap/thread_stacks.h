/* The stacks of threads, as far as their memory is known to be nothing else. */
#ifndef FT_HEAP_THREAD_STACKS_H
#define FT_HEAP_THREAD_STACKS_H

#include "heap/heap_private.h"

/* The memory of a thread's stack, as the C library has noted it when it made the thread. */
struct thread_stack {
	uint64_t start, end; /* without the guard pages */
	bool has_guard;      /* the C library has mapped it itself */
};

/* False: the C library has not made that thread (it is the first one), or is none that is known. */
bool stack_memory_of(struct heap *heap, uint64_t thread_pointer, struct thread_stack *memory);
/* Calls back for each stack that the C library keeps of a thread that has ended; where arch_tls.has_self. */
void stacks_each_left(struct heap *heap,
		      void (*callback)(void *context, uint64_t control_block, const struct thread_stack *memory),
		      void *context);
/* The parts of stacks that no function uses, in no order; they may overlap. The caller frees them. */
struct range *stacks_unused(struct heap *heap, size_t *count);

#endif
