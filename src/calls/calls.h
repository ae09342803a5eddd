/* Calls from entry to return: the data of this floor, and the table of calls in flight. */
#ifndef FT_CALLS_CALLS_H
#define FT_CALLS_CALLS_H

#include "calls/probes/probes.h"
#include "calls/task_calls.h"
#include "record/trace.h"
#include "breakpoints/process_text.h"

struct call_arguments;
struct range;
struct inner_block;

/* One traced call from entry to return. */
struct call {
	struct task *task;         /* the one that entered; NULL when it has ended */
	struct call *next, **link; /* the task's calls, newest first; link: what points to this one */
	/* The calls that return with the same sp, newest first: a function's of several kinds, or one that has jumped
	 * to one of another kind. All have the same return address. */
	struct call *older, *newer;
	const struct probe *probe;
	const struct traced *traced; /* the probe's, or one of its aliases' */
	uint64_t return_sp, return_address;
	uint64_t entered; /* the task's stop (at_stop) at its entry; 0: in another process, before a fork */
	uint64_t args[CALL_ARGS];
	uint32_t context;             /* what it was made in; of a context function's: its own context */
	uint64_t serial;              /* of the stack kept for it: call_stack.c */
	struct breakpoint *site;      /* the return site, at return_address */
	struct reservation release;   /* what it releases if it succeeds */
	struct range *range;          /* range_release.c: the same, of a range of ids; NULL none */
	struct call_arguments *shown; /* arguments.c; NULL: none are */
	/* The last call that was folded into this one, itself a part of it: what it calls is one too. */
	const struct probe *inner;
	uint64_t inner_sp;
	/* What a call that might have been a part of this one has allocated; has_made. */
	uint64_t made;
	bool has_made, made_is_reference;          /* the latter: one more of something, as far as that call knows */
	uint64_t first_event;                      /* the number of the first event since its entry */
	struct call *next_context, **context_link; /* of a context function's: the task's next such call; as link */
	struct thread *thread;                     /* of a recorded call whose task is NULL: that one's; else NULL */
	bool executes;                             /* ... and it has not ended, but executes another program */
	struct call *part_of; /* nested_blocks.c: the call of the program's own allocator that has made this one */
	struct inner_block *inner_blocks; /* ... what such calls have given this one */
	bool has_parts;                   /* ... there were any */
	bool is_elsewhere; /* contexts.c: it was not on the task's stack when that was last walked to its start */
};

/* What it knows of a breakpoint. */
struct breakpoint_calls {
	bool is_computed;      /* a return site behind a call that may go to another function each time: call_enter.c */
	unsigned char watched; /* pin_watch.c: which function's entry it is, from 1 on; 0 none */
	unsigned misses;       /* hits as a return site without a call, in a row: call_return.c */
	unsigned in_flight;    /* calls that return to it */
};

/* Calls of context functions in flight: how many of each, by the number of its bit. */
struct function_contexts {
	uint32_t mask; /* those that have any */
	uint32_t counts[TRACE_CONTEXTS];
};

struct contexts;

/* What it knows of a process. */
struct calls {
	struct hash by_sp;        /* return sp -> the newest struct call */
	struct hash inner_blocks; /* id -> struct inner_block: nested_blocks.c */
	size_t in_flight;
	size_t stack_want; /* bytes of stack to read at once */
	bool errno_known;  /* errno_offset: from a thread pointer to that thread's errno: task_errno.c */
	int64_t errno_offset;
	struct contexts *contexts;          /* contexts.c; NULL: its program has no context library */
	struct function_contexts functions; /* calls.c */
	unsigned pin_needed;                /* hits in a row before its task is pinned; 0 as always: pin.c */
};

/* ---- The table: calls.c ---- */
/* A process's part of this floor, without calls; calls_free() frees all that it has. */
struct calls *calls_new(void);
void calls_free(struct process *p);
/* What this floor knows of the task, made at its first use. */
struct task_calls *task_calls_new(struct task *task);
static inline struct task_calls *task_calls(struct task *task)
{
	return task->calls ? task->calls : task_calls_new(task);
}
/* What it knows of a breakpoint, made at its first use; probe_forget() frees it. */
struct breakpoint_calls *breakpoint_calls_new(struct breakpoint *b);
static inline struct breakpoint_calls *breakpoint_calls(struct breakpoint *b)
{
	return b->calls ? b->calls : breakpoint_calls_new(b);
}
/* A fork's child's copy of its parent's breakpoint, without that part: it has no calls, and nothing watches it. */
void breakpoint_calls_copy(struct breakpoint *b, const struct breakpoint *from);
/* The calls of a task in flight, newest first. */
static inline struct call *task_newest_call(const struct task *task)
{
	return task->calls ? task->calls->newest : NULL;
}

/* What a module says of the call's function, under the name that it is called by. No module knows a function that is
 * watched for the tracer's own sake. */
static inline const struct function *call_function(const struct call *call)
{
	return probe_is_hook(call->probe) ? &probe_watched : call->traced->function;
}
/* A call of a context function that has a context. */
static inline bool call_is_context(const struct call *call)
{
	return call->context && call->probe->wanted->hook == HOOK_CONTEXT_FUNCTION;
}
/* The newest of the calls in flight that return with that sp, or NULL. */
static inline struct call *call_find(const struct process *p, uint64_t return_sp)
{
	return hash_get_ptr(&p->calls->by_sp, return_sp);
}
/* The call in flight that has reserved the release of an id, or NULL. */
struct call *call_reserved_slow(const struct process *p, uint32_t resource, uint64_t id);
static inline struct call *call_reserved(const struct process *p, uint32_t resource, uint64_t id)
{
	return p->trace->ledger.reserved ? call_reserved_slow(p, resource, id) : NULL;
}
/* Enters a new call of the task into the tables, without arguments; nothing is reserved. `traced`: the probe's, or one
 * of its aliases'. */
struct call *call_add(struct task *task, const struct probe *probe, const struct traced *traced,
		      struct breakpoint *site, uint64_t return_sp);
/* The call, just added, is one of a context function: what it calls is in that context. */
void call_set_context(struct process *p, struct call *call, uint32_t id);
/* Takes a call that has returned out of the tables; call_free() when all is done. */
void call_unlink(struct process *p, struct call *call);
/* Frees a call that is in no table any more; releases that waited for it as a publisher are written. */
void call_free(struct process *p, struct call *call);
/* It never returned: counted and dropped. Of a recorded one a remark is in the trace. */
void call_stale(struct process *p, struct call *call);

/* Drops all calls in flight: their returns will not be seen. No event comes of them, of recorded ones a remark. */
void calls_drop_all(struct process *p);
/* Forgets the calls of probes or of a return site that are going. */
void calls_drop_site(struct process *p, const struct breakpoint *b);
/* A fork's child, in a process of its own, comes back from its maker's calls as well. It has tables of its own. */
void calls_fork(const struct task *maker, struct task *child);
/* Frees what this floor knows of a task that ends, or executes another program: another one may complete its calls (a
 * coroutine that has moved on). */
void task_calls_free(struct task *task, bool executes);

#endif
