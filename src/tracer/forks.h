/* Handles a fork's child, which begins with a copy of its parent's data: see forks.c. */
#ifndef FT_TRACER_FORKS_H
#define FT_TRACER_FORKS_H

#include "tracer/process.h"

/* Makes the process of a fork's child, whose text is a copy of the parent's, with functrace's breakpoints. The child
 * has not run yet and has no process; the caller adds it to the new process. Returns NULL, with errno set, only if
 * functrace has never read the parent's objects. */
struct process *process_fork(struct process *parent, const struct task *child);
/* Gives a process that borrows its parent's tables (forks.c) tables of its own, and opens its memory. If the memory
 * cannot be opened, the next process_own() compares the text with the tables. The process's tasks may be running. */
void process_own(struct process *p);
/* Removes all of functrace's bytes from the text of a stopped process that will be detached. */
void process_clean(struct process *p, pid_t tid);

#endif
