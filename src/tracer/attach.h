/* Begins tracing: attaches to processes, or launches one. */
#ifndef FT_TRACER_ATTACH_H
#define FT_TRACER_ATTACH_H

#include "ptrace/tracee.h"

/* Attaches to all processes of -t, and begins their traces. Returns 0, or functrace's exit status after a message. */
int attach_all(struct tracer *t);
/* Attaches to the launched program, lets it call execve (launch_open_gate()), and waits for the exec. Returns the same
 * values as attach_all(). */
int launch_begin(struct tracer *t);

#endif
