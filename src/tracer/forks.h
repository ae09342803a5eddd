/* Handles a fork's child, which has all that its maker has: see forks.c. */
#ifndef FT_TRACER_FORKS_H
#define FT_TRACER_FORKS_H

#include "tracer/process.h"

/* Makes the process of a fork's child, whose text is the parent's, with functrace's breakpoints. The child has not run
 * yet and has no process; the caller makes it join this one. Returns NULL, with errno set, only if the parent was never
 * looked at. */
struct process *process_fork(struct process *parent, const struct task *child);
/* Gives a borrower tables of its own, and opens its memory. If that cannot be opened, a later call compares its text
 * with the tables. Its tasks may be running. */
void process_own(struct process *p);
/* Removes all of functrace's bytes from the text of a stopped process that is not followed any further. */
void process_clean(struct process *p, pid_t tid);

#endif
