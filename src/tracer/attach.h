/* The beginning: attaching to processes, launching one. */
#ifndef FT_TRACER_ATTACH_H
#define FT_TRACER_ATTACH_H

#include "ptrace/tracee.h"

/* Attaches to all processes of -t, and begins their traces. 0, or the exit status of functrace: the reason has been
 * printed. */
int attach_all(struct tracer *t);
/* Takes over the launched program and opens its gate. Returns what attach_all() does. */
int launch_begin(struct tracer *t);

#endif
