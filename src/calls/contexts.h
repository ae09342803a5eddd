/* The contexts that calls are made in: those that the program enters and leaves by the context library
 * (context/context.h), and the functions of --context-function while a call of them is in flight.
 *
 * In the trace a context is a bit, in the order in which they come up (output_context()). The library's own ids are
 * others where a program has the library twice, or context functions besides. */
#ifndef FT_CALLS_CONTEXTS_H
#define FT_CALLS_CONTEXTS_H

#include "calls/calls.h"
#include "context/context_table.h"

/* An object that has the library's functions. */
struct context_library {
	uint64_t start; /* the object's first address */
	uint64_t table; /* 0: it has none, or one that cannot be read */
	uint32_t known; /* its ids whose names have been seen */
	uint32_t ids[CONTEXTS_MAX];
};

/* A process's. */
struct contexts {
	struct context_library *libraries;
	size_t count, capacity;
};

/* The breakpoints of the process's objects are planted: finds the libraries among them, and reads what contexts they
 * have already. `again`: tracing begins here or goes on, and what threads are in is not known. */
void contexts_find(struct process *p, bool again);
/* The objects of that range are going. */
void contexts_forget_range(struct process *p, uint64_t start, uint64_t end);
void contexts_free(struct calls *calls);
/* A fork's child has its parent's libraries, and the task that has forked is in what its maker is in. The child's
 * tables may be its parent's still. */
void contexts_fork(const struct process *parent, struct process *child);
void contexts_fork_task(const struct task *maker, struct task *child);

/* At the entry of sp_context_enter(id) or sp_context_exit(id), `hook` says of which. */
void contexts_hit(struct task *task, const struct probe *probe, uint64_t id);
/* sp_context_create() returns. */
void contexts_created(struct task *task, const struct call *call);

/* The contexts that the task is in, at the entry of a traced function. Unwinds while any call of a context function is
 * in flight in the process. */
uint32_t contexts_of(struct task *task);

#endif
