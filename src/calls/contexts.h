/* Finds the contexts of calls. A program enters and leaves contexts by the context library (context/context.h). A
 * function that --context-function names is a context while a call of it is in flight.
 *
 * In a trace a context is a bit, numbered in the order of first use (output_context()). The library's own ids differ
 * from these bits if a program contains the library twice, or also has context functions. */
#ifndef FT_CALLS_CONTEXTS_H
#define FT_CALLS_CONTEXTS_H

#include "calls/calls.h"
#include "context/context_table.h"

/* An object that contains the context library. */
struct context_library {
	uint64_t start; /* the object's first address */
	uint64_t table; /* address of the library's table of contexts; 0: there is none, or it cannot be read */
	uint32_t known; /* bits of the library's ids whose names were read; ids[]: the trace's bits for them */
	uint32_t ids[CONTEXTS_MAX];
};

/* The context libraries of a process. */
struct contexts {
	struct context_library *libraries;
	size_t count, capacity;
};

/* Called after breakpoints were inserted in a process: finds the context libraries among its objects, and reads their
 * contexts. `again`: the tracing of the process begins or is resumed, so that the contexts of its threads are
 * unknown. */
void contexts_find(struct process *p, bool again);
/* Forgets the libraries in a range that is no longer mapped. */
void contexts_forget_range(struct process *p, uint64_t start, uint64_t end);
void contexts_free(struct calls *calls);
/* Give a fork's child the parent's libraries, and the child's task the contexts of the task that forked. The child may
 * still borrow the parent's tables of breakpoints. */
void contexts_fork(const struct process *parent, struct process *child);
void contexts_fork_task(const struct task *maker, struct task *child);

/* Acts on the entry of sp_context_enter(id) or sp_context_exit(id); probe->wanted->hook says which. */
void contexts_hit(struct task *task, const struct probe *probe, uint64_t id);
/* Acts on the return of sp_context_create(), which has created a context. */
void contexts_created(struct task *task, const struct call *call);

/* Returns the contexts of a task that is stopped at the entry of a traced function. Unwinds the stack if a call of a
 * context function is in flight in the process. */
uint32_t contexts_of(struct task *task);

#endif
