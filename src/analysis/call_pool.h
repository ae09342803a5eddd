/* Copies of calls, kept small: strings, stacks and threads are shared. */
#ifndef FT_ANALYSIS_CALL_POOL_H
#define FT_ANALYSIS_CALL_POOL_H

#include "analysis/intern.h"
#include "analysis/stage.h"

struct held_call {
	struct held_call *next, *previous; /* the owner's lists */
	struct stack *stack;               /* NULL: none belongs to the call */
	const char *function;
	struct call_arg *args;            /* one block with their strings; NULL none */
	const struct held_thread *thread; /* NULL unknown */
	uint64_t index, time_ns, id, size;
	uint64_t sequence; /* the owner's */
	uint32_t resource, context, arg_count;
	uint32_t references; /* the owner's count of a refcount resource */
	enum call_kind kind;
	unsigned lost; /* the owner's */
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
	const struct held_thread *thread; /* of the calls that come now */
	const struct held_thread *put;    /* of the call that went on last */
};

/* A copy of the call, with the current thread. */
struct held_call *call_pool_call(struct call_pool *hold, const struct record_call *call);
/* Gives a call back, whose bytes are used again. */
void call_pool_release(struct call_pool *hold, struct held_call *call);
/* The calls that come now are this thread's. */
void call_pool_thread(struct call_pool *hold, const struct record_thread *thread);
/* The call as a record; its pointers live as long as the held call. */
void held_to_record(const struct held_call *held, struct record *record);
/* Hands it on, below a record of its thread where the one before it was another's. */
int call_pool_put(struct call_pool *hold, const struct held_call *call, struct stage *next);
void call_pool_free(struct call_pool *hold);

#endif
