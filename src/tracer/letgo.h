/* Lets go of processes: see letgo.c. */
#ifndef FT_TRACER_LETGO_H
#define FT_TRACER_LETGO_H

#include "ptrace/tracee.h"

/* Lets go of all processes, at the end of the run. */
void let_go(struct tracer *t);
/* Lets go of the processes whose traces cannot be written any more; of all, if no other is left. */
void let_go_broken(struct tracer *t);

#endif
