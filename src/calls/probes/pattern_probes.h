/* The functions of an object that rows by pattern match. */
#ifndef FT_CALLS_PROBES_PATTERN_PROBES_H
#define FT_CALLS_PROBES_PATTERN_PROBES_H

#include "ptrace/tracee.h"

/* Plants, or prepares, probes at all of them. */
void probe_patterns(struct process *p, struct object *object);

#endif
