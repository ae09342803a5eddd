/* Breakpoints in a process's code that are not functrace's own: those of a tracer that was killed. */
#ifndef FT_TRACER_LEFTOVERS_H
#define FT_TRACER_LEFTOVERS_H

#include "ptrace/tracee.h"

/* What was found in all processes. Zero at first. */
struct leftovers {
	pid_t pid; /* of the first process that has any; 0: none has */
	char *name;
	size_t breakpoints, others; /* of that one; how many more processes */
};

/* How many breakpoints are in a process's code when all of this run's are out. */
size_t leftovers_count(struct process *p);
/* Looks for them before anything is planted in a process. */
void leftovers_look(struct process *p, struct leftovers *found);
/* Says where they are, and what to do, and frees what was found. */
void leftovers_say(struct leftovers *found);

#endif
