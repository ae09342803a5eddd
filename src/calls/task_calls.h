/* The data of src/calls about a task. */
#ifndef FT_CALLS_TASK_CALLS_H
#define FT_CALLS_TASK_CALLS_H

#include "record/call_event.h"

struct call;
struct probe;

/* An entry into a release function that cannot fail. */
struct entry {
	const struct probe *probe;   /* NULL: no entry */
	uint64_t sp, return_address; /* `sp`: the sp after the return */
};

/* delete[] with size and alignment jumps on through two other forms of delete to free: three jumps, twice as many if
 * a preloaded function precedes each target */
#define RELEASE_JUMPS 6

struct last_release {
	struct entry outer, inner; /* inner: the latest release that was folded into `outer` */
	/* The functions that this release has jumped to, all with the sp of `outer`. One release enters each of them at
	 * most once: if a function is entered again with this sp, this is the next call from the same place. */
	const struct probe *jumped[RELEASE_JUMPS];
	unsigned jumps;
	/* the release has called (not jumped to) another function with the same id, so it will not jump any more */
	bool has_called;
	uint64_t id;
};

/* Stack bytes that were read at a call's entry: backtrace.c. */
struct kept_stack {
	unsigned char *bytes;
	size_t capacity, size;
	uint64_t address;
	uint64_t call;     /* the `serial` of the calls for which the bytes are kept; 0: none */
	uint64_t valid_at; /* the task's stop (at_stop) at which the bytes are valid */
};

/* The stack of an event that the kernel has recorded (kernel_calls.c). */
struct recorded_stack {
	const struct unwind_frame *frames; /* the first is the caller of the traced function */
	size_t count;
	enum stack_end end;
};

#define REPLACED_RETURNS 8

/* A call in flight whose return address on the stack the kernel has replaced by that of its trampoline. */
struct replaced_return {
	uint64_t return_sp, return_address;
};

struct task_calls {
	struct thread *thread;
	struct call *newest;
	struct call *newest_context;        /* newest call of a context function */
	struct last_release *last_releases; /* indexed by the kind's id; NULL before the first release */
	struct kept_stack kept;
	uint64_t last_serial;
	/* kernel_calls.c: set while a call is fed that the kernel has recorded, and whose stack is known; else NULL */
	const struct recorded_stack *recorded;
	/* kernel_calls.c: such a call is fed, so the task runs, and nothing of it but `kept` may be read */
	bool is_fed;
	/* kernel_calls.c: the address and the return address of the latest entry of a function that is named by the
	 * frame above malloc, and that jumps to another such function */
	uint64_t jumped, jumped_return;
	/* kernel_calls.c: the latest calls whose entries the kernel has recorded and whose returns it has not */
	struct replaced_return replaced[REPLACED_RETURNS];
	unsigned replaced_next;
	unsigned by_breakpoint; /* number of its calls in flight whose returns are seen by a breakpoint */
	bool may_be_inside;     /* the task may be inside a function whose entry was not seen: unseen_entries.c */
	/* `word`: a word of memory at address word_at, read at the task's stop word_stop */
	uint64_t word_at, word, word_stop;
	/* contexts.c. entered: the contexts that the task has entered by the context library, valid if entered_known.
	 * context: all contexts of the task, as computed at its stop context_stop; context_stop is 0 if they have
	 * changed since. */
	bool entered_known;
	uint32_t entered, context;
	uint64_t context_stop;
};

#endif
