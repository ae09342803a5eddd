/* What is done about a stop: one switch. */
#ifndef FT_TRACER_DISPATCH_H
#define FT_TRACER_DISPATCH_H

#include "ptrace/stop.h"
#include "ptrace/tracee.h"

/* Acts on the stop of a task, which stop->kind and the task's phase decide. The task may have gone when it returns. Its
 * one caller is stop_pump.c. */
void dispatch_stop(struct tracer *t, const struct stop *stop);

#endif
