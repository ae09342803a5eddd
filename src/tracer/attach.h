/* The beginning: attaching to processes, launching one. */
#ifndef FT_TRACER_ATTACH_H
#define FT_TRACER_ATTACH_H

#include "ptrace/tracee.h"

/* Both return 0, or the exit status of functrace; the reason has been printed. */
int attach_all(struct tracer *t);
int launch_begin(struct tracer *t);

#endif
