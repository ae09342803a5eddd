/* Detaches from processes: see letgo.c. */
#ifndef FT_TRACER_LETGO_H
#define FT_TRACER_LETGO_H

#include "ptrace/tracee.h"

/* Detaches from all processes, at the end of the run. */
void let_go(struct tracer *t);
/* Detaches from the processes whose traces cannot be written any more. If no others are left, detaches from all. */
void let_go_broken(struct tracer *t);

#endif
