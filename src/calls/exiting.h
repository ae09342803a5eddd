/* A thread that ends its process by exit(3). */
#ifndef FT_CALLS_EXITING_H
#define FT_CALLS_EXITING_H

#include "ptrace/tracee.h"

#define EXITING_WORDS 64

/* What the function that called exit() still had then. */
struct exit_caller {
	uint64_t sp;
	uint64_t words[EXITING_WORDS]; /* registers that functions save, as they were */
	size_t count;
};

/* Of a stopped task whose registers are known: whether exit() or quick_exit() has called _exit(), after all handlers,
 * and for whom. False also where the C library's functions are not known by name, or the stack cannot be unwound. */
bool exiting_caller(struct task *task, struct exit_caller *caller);

#endif
