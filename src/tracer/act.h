/* What is done about a stop: one switch. */
#ifndef FT_TRACER_ACT_H
#define FT_TRACER_ACT_H

#include "ptrace/stop.h"
#include "ptrace/tracee.h"

/* Acts on the stop of a task, which stop->kind and the task's phase decide. The task may have gone when it returns.
 * False: nothing more is to be traced. */
bool act(struct tracer *t, const struct stop *stop);

#endif
