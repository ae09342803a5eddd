/* Traced calls from entry to return: the data of src/calls, and the table of calls in flight. */
#ifndef FT_CALLS_CALLS_H
#define FT_CALLS_CALLS_H

#include "calls/probes/probes.h"
#include "calls/task_calls.h"
#include "record/trace.h"
#include "breakpoints/process_text.h"

struct call_arguments;
struct range_releases;
struct inner_block;

/* One traced call from entry to return. */
struct call {
	struct task *task;         /* the task that made the call; NULL if that task has ended or called execve */
	struct call *next, **link; /* next: the task's next older call; link: the pointer to this call */
	/* Links calls that have the same return_sp and return_address, newest first. There are several if the function
	 * allocates or releases several kinds, or if it has jumped to a function of another kind. */
	struct call *older, *newer;
	const struct probe *probe;
	const struct traced *traced; /* the name that the caller used: the probe's, or one of its aliases */
	uint64_t return_sp, return_address;
	uint64_t entered; /* the task's at_stop at the entry; 0: the call was made before a fork, by the parent */
	uint64_t args[CALL_ARGS];
	uint32_t context;             /* the contexts at the entry; for a context function's call, its own context */
	uint64_t serial;              /* backtrace.c: identifies the stack bytes kept for this call; 0: none are kept */
	struct breakpoint *site;      /* the breakpoint at return_address */
	struct reservation release;   /* the release that this call makes if it succeeds */
	struct range_releases *range; /* range_release.c: the releases of a range of ids, or NULL */
	struct call_arguments *shown; /* arguments.c: its arguments as text, or NULL */
	/* The function of a call that was folded into this one. Calls that `inner` makes are folded, too. */
	const struct probe *inner;
	uint64_t inner_sp;
	/* If has_made: an id that another call inside this one has allocated, in an event of its own. */
	uint64_t made;
	bool has_made, made_is_reference;          /* made_is_reference: the inner call added a reference to `made` */
	uint64_t first_event;                      /* number of the first event after this call's entry */
	struct call *next_context, **context_link; /* the task's next older call of a context function */
	struct thread *thread;                     /* the thread of a recorded call whose `task` is NULL, else NULL */
	bool executes;                             /* if `task` is NULL: the task has not ended, but is in an execve */
	struct call *part_of; /* nested_blocks.c: the call of a program's own allocator that made this one, or NULL */
	struct inner_block *inner_blocks; /* blocks allocated by calls whose part_of is this call */
	bool has_parts;                   /* some call has or had this call as its part_of */
	bool by_kernel;                   /* the kernel records its return: kernel_calls.c */
	bool is_elsewhere; /* the latest walk of the task's stack did not find this call's frame: contexts.c */
};

/* The data of src/calls about a breakpoint. */
struct breakpoint_calls {
	bool is_computed;      /* a return site after a call instruction with a computed target: call_enter.c */
	unsigned char watched; /* number of the function that pin_watch.c watches here; 0: none */
	unsigned misses;       /* number of successive hits at which no call returned: call_return.c */
	unsigned in_flight;    /* number of calls in flight that return here */
};

/* Number of calls of context functions in flight, by the context's bit number. */
struct function_contexts {
	uint32_t mask; /* bits of the contexts whose count is not 0 */
	uint32_t counts[TRACE_CONTEXTS];
};

struct contexts;

/* The data of src/calls about a process. */
struct calls {
	struct hash by_sp;        /* return_sp -> the newest struct call */
	struct hash inner_blocks; /* id -> struct inner_block: nested_blocks.c */
	size_t in_flight;
	size_t stack_want;                  /* backtrace.c: number of stack bytes that are read at a time */
	bool errno_known;                   /* errno_offset is valid: arguments.c */
	int64_t errno_offset;               /* distance from a thread's thread pointer to its errno */
	struct contexts *contexts;          /* contexts.c; NULL: the program has no context library */
	struct function_contexts functions; /* counts of the context functions' calls: calls.c */
	unsigned pin_needed; /* successive hits of one task after which that task is pinned; 0: the default of pin.c */
};

/* ---- The table: calls.c ---- */
/* Allocates the data of src/calls about a process. calls_free() frees it, and the process's unwinder. */
struct calls *calls_new(void);
void calls_free(struct process *p);
/* Allocates the data of src/calls about a task; task_calls() calls this at the first use. */
struct task_calls *task_calls_new(struct task *task);
static inline struct task_calls *task_calls(struct task *task)
{
	return task->calls ? task->calls : task_calls_new(task);
}
/* Allocates the data of src/calls about a breakpoint; breakpoint_calls() calls this at the first use. probe_forget()
 * frees it. */
struct breakpoint_calls *breakpoint_calls_new(struct breakpoint *b);
static inline struct breakpoint_calls *breakpoint_calls(struct breakpoint *b)
{
	return b->calls ? b->calls : breakpoint_calls_new(b);
}
/* Copies the data of src/calls about a breakpoint to the breakpoint's copy in a fork's child. The copy has no calls in
 * flight, and pin_watch.c does not watch it. */
void breakpoint_calls_copy(struct breakpoint *b, const struct breakpoint *from);
/* Returns the newest of the task's calls in flight, or NULL. call->next points to the next older one. */
static inline struct call *task_newest_call(const struct task *task)
{
	return task->calls ? task->calls->newest : NULL;
}

/* Returns the module's description of the called function, under the name that the caller used. For a function that is
 * watched for the tracer's own use, which no module describes, returns &probe_watched. */
static inline const struct function *call_function(const struct call *call)
{
	return probe_is_hook(call->probe) ? &probe_watched : call->traced->function;
}
/* Returns true if the call is recorded as a call, and not as an allocation or release, for example because -x names the
 * function. */
static inline bool call_is_recorded(const struct call *call)
{
	return !probe_is_hook(call->probe) && call->traced->function->role == ROLE_CALL;
}
/* Returns true if this is a call of a context function, with a context. */
static inline bool call_is_context(const struct call *call)
{
	return call->context && call->probe->wanted->hook == HOOK_CONTEXT_FUNCTION;
}
/* Returns the newest call in flight that returns with this sp, or NULL. */
static inline struct call *call_find(const struct process *p, uint64_t return_sp)
{
	return hash_get_ptr(&p->calls->by_sp, return_sp);
}
/* Returns the call in flight that has reserved the release of the id, or NULL. */
struct call *call_reserved_slow(const struct process *p, uint32_t resource, uint64_t id);
static inline struct call *call_reserved(const struct process *p, uint32_t resource, uint64_t id)
{
	return p->trace->ledger.reserved ? call_reserved_slow(p, resource, id) : NULL;
}
/* Adds a new call of the task to the tables, without arguments and reservations. `traced`: the name that the caller
 * used, the probe's or one of its aliases. */
struct call *call_add(struct task *task, const struct probe *probe, const struct traced *traced,
		      struct breakpoint *site, uint64_t return_sp);
/* Marks a call that was just added as a call of a context function: calls inside it are in the context `id`. */
void call_set_context(struct process *p, struct call *call, uint32_t id);
/* Removes a call from the tables. The caller frees it by call_free(). */
void call_unlink(struct process *p, struct call *call);
/* Frees a call that is in no table. Writes the releases that waited for this call because it is a publisher. */
void call_free(struct process *p, struct call *call);

/* Copies the calls in flight of the task that forked, because the child returns from them as well. The child's process
 * must have tables of its own. */
void calls_fork(const struct task *maker, struct task *child);
/* Frees the data of src/calls about a task that has ended or called execve (`executes`). Its calls stay in flight,
 * because another task may complete them (a coroutine that has moved to another thread). */
void task_calls_free(struct task *task, bool executes);

#endif
