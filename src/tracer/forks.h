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

/* Writes the breakpoints that are prepared, and begins the probes in the kernel, in the process and in the children
 * that borrow its tables. */
void process_plant_probes(struct process *p);
/* Gives a fork's child the probes in the kernel that the parent has, or else breakpoints. Called before it runs. */
void process_probe_fork(const struct process *parent, struct process *child);

#endif
