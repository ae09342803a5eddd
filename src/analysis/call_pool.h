/* Makes copies of calls. The copies need little memory, because they share strings, stacks and threads. */
#ifndef FT_ANALYSIS_CALL_POOL_H
#define FT_ANALYSIS_CALL_POOL_H

#include "analysis/intern.h"
#include "analysis/stage.h"

struct held_call {
	struct held_call *next, *previous; /* for lists of the pool's user (any stage) */
	struct stack *stack;               /* the call's stack; NULL if it has none */
	const char *function;
	/* the arguments, in one allocation with their strings; NULL if there are none */
	struct call_arg *args;
	const struct held_thread *thread; /* the calling thread; NULL if unknown */
	uint64_t index, time_ns, id, size;
	uint64_t sequence; /* for the pool's user */
	uint32_t resource, context, arg_count;
	uint32_t references; /* for the pool's user: the number of references, if they are counted */
	enum call_kind kind;
	unsigned lost; /* for the pool's user */
};

struct held_thread {
	uint32_t tid;
	const char *name;
	struct held_thread *older;
};

struct call_pool {
	struct stack_pool stacks;
	struct intern_pool strings;
	struct held_call *unused;
	struct held_chunk *chunks;
	struct hash threads;              /* tid -> struct held_thread with the thread's last name */
	const struct held_thread *thread; /* the current thread, which is the caller of the next calls */
	const struct held_thread *put;    /* thread of the last call that was passed on */
};

/* Returns a copy of a call by the current thread. */
struct held_call *call_pool_call(struct call_pool *pool, const struct record_call *call);
/* Releases a copy. Its memory is reused for later copies. */
void call_pool_release(struct call_pool *pool, struct held_call *call);
/* Sets the current thread. */
void call_pool_thread(struct call_pool *pool, const struct record_thread *thread);
/* Sets *record to the copied call. The record's pointers are valid as long as the copy. */
void held_to_record(const struct held_call *held, struct record *record);
/* Passes a call to the next stage. Before that it passes a thread record, if the last call that was passed on was made
 * by another thread, or under another name of the thread. Return value as stage_put(). */
int call_pool_put(struct call_pool *pool, const struct held_call *call, struct stage *next);
void call_pool_free(struct call_pool *pool);

#endif
