/* Finds breakpoints in a process's code that a killed tracer has left. */
#ifndef FT_TRACER_LEFTOVERS_H
#define FT_TRACER_LEFTOVERS_H

#include "ptrace/tracee.h"

/* What was found in all processes. Must be zero at first. */
struct leftovers {
	pid_t pid; /* the first process that has any; 0: none has */
	char *name;
	size_t breakpoints, others; /* those in that process; how many more processes have any */
};

/* Returns how many breakpoints are in a process's code when all of this run's are removed. */
size_t leftovers_count(struct process *p);
/* Looks for them before any breakpoint is inserted into a process. */
void leftovers_look(struct process *p, struct leftovers *found);
/* Warns where they are, says what to do, and frees what was found. */
void leftovers_say(struct leftovers *found);

#endif
