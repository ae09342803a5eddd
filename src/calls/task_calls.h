/* What this floor knows of a task. */
#ifndef FT_CALLS_TASK_CALLS_H
#define FT_CALLS_TASK_CALLS_H

#include "record/call_event.h"

struct call;
struct probe;

/* A release by a function that cannot fail. */
struct entry {
	const struct probe *probe;   /* NULL: none */
	uint64_t sp, return_address; /* sp: as its return will have it */
};

#define RELEASE_JUMPS 6 /* free behind a delete[] with a size and an alignment, and one of a preloaded library each */

struct last_release {
	struct entry outer, inner; /* inner: the last one that was folded into it */
	/* The functions that it has jumped to, which stand where the outer one did: each of them is entered there once,
	 * and what enters one again is the next call of the same line. */
	const struct probe *jumped[RELEASE_JUMPS];
	unsigned jumps;
	bool has_called; /* ... or it has called one with its own id, and returned to it: then it jumps to none */
	uint64_t id;
};

/* Stack bytes read at a call's entry: call_stack.c. */
struct kept_stack {
	unsigned char *bytes;
	size_t capacity, size;
	uint64_t address;
	uint64_t call;     /* serial of the call that they are kept for; 0 none */
	uint64_t valid_at; /* the task's stop at which they are true */
};

struct task_calls {
	struct thread *thread;
	struct call *newest;
	struct call *newest_context;        /* of those of context functions */
	struct last_release *last_releases; /* by the kind's id; NULL before the first */
	struct kept_stack kept;
	uint64_t last_serial;
	bool may_be_inside;                /* a function whose entry was not seen: unseen_entries.c */
	uint64_t word_at, word, word_stop; /* a word of memory, and the task's stop at which it was read */
	/* contexts.c: what it has entered by the context library, if that is known; all that it is in, and the task's
	 * stop at which that was found out, 0 if anything has changed since. */
	bool entered_known;
	uint32_t entered, context;
	uint64_t context_stop;
};

#endif
