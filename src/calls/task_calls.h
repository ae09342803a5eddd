/* This room's part of a task. */
#ifndef FT_CALLS_TASK_CALLS_H
#define FT_CALLS_TASK_CALLS_H

#include "record/call_event.h"

struct call;
struct probe;

/* The entry of a release that cannot fail. */
struct entry {
	const struct probe *probe;   /* NULL: none */
	uint64_t sp, return_address; /* sp: its value at the return */
};

#define RELEASE_JUMPS 6 /* from delete[] with size and alignment down to free, each preloaded as well */

struct last_release {
	struct entry outer, inner; /* inner: the last release that was folded into `outer` */
	/* The functions that it has jumped to, all with the sp of `outer`. A release enters each of them once. If one
	 * is entered again with this sp, that is the next call from the same place. */
	const struct probe *jumped[RELEASE_JUMPS];
	unsigned jumps;
	bool has_called; /* it has called, not jumped to, a function with its own id: it will not jump any more */
	uint64_t id;
};

/* Stack bytes that were read at a call's entry: call_stack.c. */
struct kept_stack {
	unsigned char *bytes;
	size_t capacity, size;
	uint64_t address;
	uint64_t call;     /* serial of the call that they are kept for; 0: none */
	uint64_t valid_at; /* the task's stop at which they are valid */
};

struct task_calls {
	struct thread *thread;
	struct call *newest;
	struct call *newest_context;        /* newest call of a context function */
	struct last_release *last_releases; /* by the kind's id; NULL before the first release */
	struct kept_stack kept;
	uint64_t last_serial;
	bool may_be_inside;                /* inside a function whose entry was not seen: unseen_entries.c */
	uint64_t word_at, word, word_stop; /* a word of memory at word_at, read at the task's stop word_stop */
	/* contexts.c: the contexts that it has entered by the context library, if entered_known; and all contexts that
	 * it is in, found out at the task's stop context_stop, which is 0 if they have changed since. */
	bool entered_known;
	uint32_t entered, context;
	uint64_t context_stop;
};

#endif
