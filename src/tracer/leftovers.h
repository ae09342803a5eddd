/* Breakpoints in a process's code that are not functrace's own: those of a tracer that was killed. */
#ifndef FT_TRACER_LEFTOVERS_H
#define FT_TRACER_LEFTOVERS_H

#include "ptrace/tracee.h"

/* Looks for them in all processes, before anything is planted there, and says where they are, and what to do. */
void leftovers_look(struct tracer *t);
/* How many breakpoints are in a process's code when all of this run's are out. */
size_t leftovers_count(struct process *p);

#endif
