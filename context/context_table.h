/* The table of the context library in a program's memory. A tracer that attaches reads from it which contexts exist,
 * and which threads are in a context. Programs of 32 and of 64 bits have the same table. */
#ifndef FT_CONTEXT_TABLE_H
#define FT_CONTEXT_TABLE_H

#include <stdint.h>

#define CONTEXT_TABLE_SYMBOL  "functrace_contexts"
#define CONTEXT_TABLE_MAGIC   0x58544346u
#define CONTEXT_TABLE_VERSION 1u

#define CONTEXTS_MAX        32
#define CONTEXT_NAME_SIZE   60 /* with the NUL */
#define CONTEXT_THREADS_MAX 512

enum context_state { CONTEXT_FREE, CONTEXT_IN_MAKING, CONTEXT_READY };

struct context_entry {
	uint32_t state; /* enum context_state */
	char name[CONTEXT_NAME_SIZE];
};

/* A thread that is in a context. */
struct context_thread {
	uint32_t tid;  /* its id in the program's own pid namespace; 0: the entry is free */
	uint32_t mask; /* the ids of the thread's contexts */
};

struct context_table {
	uint32_t magic, version;
	uint32_t created; /* the ids of the entries that are ready */
	uint32_t reserved;
	struct context_entry contexts[CONTEXTS_MAX]; /* the id of contexts[n] is 1 << n */
	struct context_thread threads[CONTEXT_THREADS_MAX];
};

#endif
