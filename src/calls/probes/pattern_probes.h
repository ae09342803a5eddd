/* Probes the functions of an object that match table rows by pattern. */
#ifndef FT_CALLS_PROBES_PATTERN_PROBES_H
#define FT_CALLS_PROBES_PATTERN_PROBES_H

#include "ptrace/tracee.h"

/* Adds probes at all functions of the object that match rows by pattern. While p->text->planting is set, their
 * breakpoints are only prepared, and probes_plant() writes them. */
void probe_patterns(struct process *p, struct object *object);

#endif
