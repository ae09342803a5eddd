/* Acts on stops, by one switch over their kinds. */
#ifndef FT_TRACER_DISPATCH_H
#define FT_TRACER_DISPATCH_H

#include "ptrace/wait_status.h"
#include "ptrace/tracee.h"

/* Acts on the stop of a task, as stop->kind and the task's phase decide. The task may be freed afterwards. Only
 * stop_pump.c calls this. */
void dispatch_stop(struct tracer *t, const struct stop *stop);

#endif
