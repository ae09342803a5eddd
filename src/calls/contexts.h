/* Finds the contexts of calls: those that the program enters and leaves by the context library (context/context.h),
 * and those of the functions of --context-function while a call of them is in flight.
 *
 * In a trace a context is a bit, numbered in the order of first use (output_context()). The library's own ids differ
 * from these bits if a program has the library twice, or context functions besides. */
#ifndef FT_CALLS_CONTEXTS_H
#define FT_CALLS_CONTEXTS_H

#include "calls/calls.h"
#include "context/context_table.h"

/* An object that contains the context library. */
struct context_library {
	uint64_t start; /* the object's first address */
	uint64_t table; /* of the library's contexts; 0: it has no table, or one that cannot be read */
	uint32_t known; /* the library's ids whose names were read; ids: their bits in the trace */
	uint32_t ids[CONTEXTS_MAX];
};

/* The context libraries of a process. */
struct contexts {
	struct context_library *libraries;
	size_t count, capacity;
};

/* Finds the libraries among a process's objects, whose breakpoints were just inserted, and reads their contexts.
 * `again`: tracing begins here or goes on after a pause, so that the contexts of threads are unknown. */
void contexts_find(struct process *p, bool again);
/* Forgets the libraries in the range, which is no longer mapped. */
void contexts_forget_range(struct process *p, uint64_t start, uint64_t end);
void contexts_free(struct calls *calls);
/* Give a fork's child the libraries of its maker, and its task the contexts of the task that forked. The child may
 * still borrow its maker's tables. */
void contexts_fork(const struct process *parent, struct process *child);
void contexts_fork_task(const struct task *maker, struct task *child);

/* Acts on the entry of sp_context_enter(id) or sp_context_exit(id); the probe's hook says which. */
void contexts_hit(struct task *task, const struct probe *probe, uint64_t id);
/* Acts on the return of sp_context_create(). */
void contexts_created(struct task *task, const struct call *call);

/* Returns the contexts that the task is in, at the entry of a traced function. Unwinds the stack while a call of a
 * context function is in flight in the process. */
uint32_t contexts_of(struct task *task);

#endif
