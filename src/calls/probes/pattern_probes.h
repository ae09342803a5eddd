/* Probes the functions of an object that match table rows by pattern. */
#ifndef FT_CALLS_PROBES_PATTERN_PROBES_H
#define FT_CALLS_PROBES_PATTERN_PROBES_H

#include "ptrace/tracee.h"

/* Inserts, or only prepares, probes at all functions of the object that match rows by pattern. */
void probe_patterns(struct process *p, struct object *object);

#endif
