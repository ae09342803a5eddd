/* A fork's child, which has all that its parent has: see forks.c. */
#ifndef FT_TRACER_FORKS_H
#define FT_TRACER_FORKS_H

#include "tracer/process.h"

/* A fork's address space, which has the parent's text with our breakpoints in it. The child has not run yet, and has no
 * process: it joins this one. NULL: errno (only where the parent has never been looked at). */
struct process *process_fork(struct process *parent, const struct task *child);
/* Gives a borrower tables of its own, and opens its memory. Where that cannot be, what its text has is compared with
 * them by a later call. Its tasks may be running. */
void process_own(struct process *p);
/* Takes all that is ours out of the text of a stopped process that is not followed any further. */
void process_clean(struct process *p, pid_t tid);

#endif
