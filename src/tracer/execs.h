/* A process executes another program: see execs.c. */
#ifndef FT_TRACER_EXECS_H
#define FT_TRACER_EXECS_H

#include "ptrace/stop.h"
#include "ptrace/tracee.h"

void act_exec(struct tracer *t, const struct stop *stop);

#endif
