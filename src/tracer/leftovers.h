/* Finds breakpoints in a process's code that a tracer left when it was killed. */
#ifndef FT_TRACER_LEFTOVERS_H
#define FT_TRACER_LEFTOVERS_H

#include "ptrace/tracee.h"

/* The breakpoints that leftovers_look() has found in all processes so far. The caller zeroes the struct before the
 * first call. */
struct leftovers {
	pid_t pid; /* the first process that contains such breakpoints; 0: none does */
	char *name;
	/* number of breakpoints in that process; number of other processes that contain some */
	size_t breakpoints, others;
};

/* Returns the number of breakpoints in a process's code. Called while this run has no breakpoints there. */
size_t leftovers_count(struct process *p);
/* Counts the breakpoints that a killed tracer has left in the process. Called before this run inserts any. */
void leftovers_look(struct process *p, struct leftovers *found);
/* If breakpoints were found, prints a warning with the name of the first process, the number of other processes, and
 * what to do. Clears the struct. */
void leftovers_say(struct leftovers *found);

#endif
