/* Recognises a thread that ends its process by exit(3). */
#ifndef FT_CALLS_EXITING_H
#define FT_CALLS_EXITING_H

#include "ptrace/tracee.h"

#define EXITING_WORDS 64

/* The caller of exit(): its stack pointer and registers. */
struct exit_caller {
	uint64_t sp;
	uint64_t words[EXITING_WORDS]; /* values of the callee-saved registers */
	size_t count;
};

/* Returns true if a stopped task is in the _exit() that exit() or quick_exit() calls after all handlers. *caller gets
 * the state of the function that called exit(). Returns false as well if the C library's functions have no symbols, or
 * if the stack cannot be unwound. */
bool exiting_caller(struct task *task, struct exit_caller *caller);

#endif
