/* Traced calls from entry to return: the data of this room, and the table of calls in flight. */
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
	struct task *task;         /* the task that entered it; NULL if it has ended */
	struct call *next, **link; /* in the list of the task's calls, newest first; link: the pointer to this one */
	/* Links of the calls that return with the same sp to the same address, newest first. There are several if the
	 * function is of several kinds, or if it has jumped to a function of another kind. */
	struct call *older, *newer;
	const struct probe *probe;
	const struct traced *traced; /* the name it was called by: the probe's, or one of its aliases */
	uint64_t return_sp, return_address;
	uint64_t entered; /* at_stop of the task at its entry; 0: in another process, before a fork */
	uint64_t args[CALL_ARGS];
	uint32_t context;             /* contexts at its entry; for a context function's call, its own context */
	uint64_t serial;              /* of the stack bytes kept for it: call_stack.c */
	struct breakpoint *site;      /* the return site, at return_address */
	struct reservation release;   /* what it releases if it succeeds */
	struct range_releases *range; /* the same for a range of ids, or NULL: range_release.c */
	struct call_arguments *shown; /* its arguments, or NULL: arguments.c */
	/* The function of the call that was folded into this one last. What it calls is a part of this call, too. */
	const struct probe *inner;
	uint64_t inner_sp;
	/* If has_made: the id that an inner call has allocated which was not recognised as a part of this one. */
	uint64_t made;
	bool has_made, made_is_reference;          /* by its row, the inner call only added a reference to the object */
	uint64_t first_event;                      /* the number of the first event after its entry */
	struct call *next_context, **context_link; /* the task's next call of a context function; like link */
	struct thread *thread;                     /* of a recorded call whose task is NULL: its thread; else NULL */
	bool executes;                             /* if task is NULL: it has not ended, but executes another program */
	struct call *part_of; /* the call of the program's own allocator that made this one, or NULL: nested_blocks.c */
	struct inner_block *inner_blocks; /* blocks that calls with this one as part_of have allocated */
	bool has_parts;                   /* there were such calls */
	bool is_elsewhere; /* the last walk of the task's stack passed its place without finding it: contexts.c */
};

/* This room's part of a breakpoint. */
struct breakpoint_calls {
	bool is_computed;      /* a return site whose call instruction may call various functions: call_enter.c */
	unsigned char watched; /* the number of the function whose entry pin_watch.c watches here; 0: none */
	unsigned misses;       /* hits in a row as a return site without a call: call_return.c */
	unsigned in_flight;    /* calls that return to it */
};

/* How many calls of context functions are in flight, by the number of the context's bit. */
struct function_contexts {
	uint32_t mask; /* the contexts whose count is not 0 */
	uint32_t counts[TRACE_CONTEXTS];
};

struct contexts;

/* This room's part of a process. */
struct calls {
	struct hash by_sp;        /* return_sp -> the newest struct call */
	struct hash inner_blocks; /* id -> struct inner_block: nested_blocks.c */
	size_t in_flight;
	size_t stack_want; /* bytes of stack that are read at once */
	bool errno_known;  /* errno_offset, from a thread's thread pointer to its errno, is known: task_errno.c */
	int64_t errno_offset;
	struct contexts *contexts;          /* contexts.c; NULL: the program has no context library */
	struct function_contexts functions; /* context functions: calls.c */
	unsigned pin_needed;                /* hits in a row before its task is pinned; 0: the default of pin.c */
};

/* ---- The table: calls.c ---- */
/* Makes this room's part of a process, without calls. calls_free() frees it and the process's unwinder. */
struct calls *calls_new(void);
void calls_free(struct process *p);
/* Makes this room's part of a task; task_calls() does so at its first use. */
struct task_calls *task_calls_new(struct task *task);
static inline struct task_calls *task_calls(struct task *task)
{
	return task->calls ? task->calls : task_calls_new(task);
}
/* Makes this room's part of a breakpoint; breakpoint_calls() does so at its first use. probe_forget() frees it. */
struct breakpoint_calls *breakpoint_calls_new(struct breakpoint *b);
static inline struct breakpoint_calls *breakpoint_calls(struct breakpoint *b)
{
	return b->calls ? b->calls : breakpoint_calls_new(b);
}
/* Makes this part for the copy of a breakpoint in a fork's child. The copy has no calls, and nothing is watched
 * there. */
void breakpoint_calls_copy(struct breakpoint *b, const struct breakpoint *from);
/* Returns the newest of the task's calls in flight, or NULL. call->next leads to the older ones. */
static inline struct call *task_newest_call(const struct task *task)
{
	return task->calls ? task->calls->newest : NULL;
}

/* Returns what a module says about the called function, by the name under which it was called. For a function that is
 * watched for the tracer's own use, which no module has, returns &probe_watched. */
static inline const struct function *call_function(const struct call *call)
{
	return probe_is_hook(call->probe) ? &probe_watched : call->traced->function;
}
/* Returns whether this is a call of a context function that has a context. */
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
/* Enters a new call of the task into the tables, without arguments and reservations. `traced`: the name it was called
 * by, of the probe or of one of its aliases. */
struct call *call_add(struct task *task, const struct probe *probe, const struct traced *traced,
		      struct breakpoint *site, uint64_t return_sp);
/* Marks a call that was just added as one of a context function: calls inside it are in the context `id`. */
void call_set_context(struct process *p, struct call *call, uint32_t id);
/* Takes a call that has returned out of the tables. The caller frees it by call_free(). */
void call_unlink(struct process *p, struct call *call);
/* Frees a call that is in no table. Releases that waited for it as a publisher are written. */
void call_free(struct process *p, struct call *call);
/* Counts and drops a call that never returned. A recorded one gets a remark in the trace. */
void call_stale(struct process *p, struct call *call);

/* Drops all calls in flight, because their returns will not be seen. They get no events, but recorded ones a remark. */
void calls_drop_all(struct process *p);
/* Drops the calls of the breakpoint's probes and those that return to it, because its code is unloaded. */
void calls_drop_site(struct process *p, const struct breakpoint *b);
/* Copies the maker's calls in flight for a fork's child, which returns from them as well. The child's process has
 * tables of its own. */
void calls_fork(const struct task *maker, struct task *child);
/* Frees this room's part of a task that ends or executes another program. Its calls stay in flight, because another
 * task may complete them (a coroutine that has moved on). */
void task_calls_free(struct task *task, bool executes);

#endif
