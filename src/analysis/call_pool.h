/* Makes copies of calls that need little memory: strings, stacks and threads are shared. */
#ifndef FT_ANALYSIS_CALL_POOL_H
#define FT_ANALYSIS_CALL_POOL_H

#include "analysis/intern.h"
#include "analysis/stage.h"

struct held_call {
	struct held_call *next, *previous; /* for the owner's lists */
	struct stack *stack;               /* NULL: the call has none */
	const char *function;
	struct call_arg *args;            /* one allocation with their strings; NULL if there are none */
	const struct held_thread *thread; /* NULL if unknown */
	uint64_t index, time_ns, id, size;
	uint64_t sequence; /* for the owner */
	uint32_t resource, context, arg_count;
	uint32_t references; /* for the owner, who counts those of a refcount resource */
	enum call_kind kind;
	unsigned lost; /* for the owner */
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
	struct hash threads;              /* tid -> newest struct held_thread of it */
	const struct held_thread *thread; /* of the calls that are copied now */
	const struct held_thread *put;    /* of the call that was passed on last */
};

/* Returns a copy of the call, with the current thread. */
struct held_call *call_pool_call(struct call_pool *pool, const struct record_call *call);
/* Releases a copy, so that its memory can be used again. */
void call_pool_release(struct call_pool *pool, struct held_call *call);
/* Sets the current thread. */
void call_pool_thread(struct call_pool *pool, const struct record_thread *thread);
/* Makes a record of a copy. Its pointers are valid as long as the copy. */
void held_to_record(const struct held_call *held, struct record *record);
/* Passes a call to the next stage, after a record of its thread if the last call was another thread's. */
int call_pool_put(struct call_pool *pool, const struct held_call *call, struct stage *next);
void call_pool_free(struct call_pool *pool);

#endif
