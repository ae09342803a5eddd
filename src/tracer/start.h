/* Where tracing of a process begins, pauses and goes on. */
#ifndef FT_TRACER_START_H
#define FT_TRACER_START_H

#include "tracer/process.h"

/* Reads the objects, probes what they define, begins a trace. 0 or -errno. */
int process_start(struct process *p);
/* Starts every process while it runs. Nothing is planted before all are prepared, because from its first breakpoint on
 * a process waits for the tracer. 0 or the first -errno, and *failed is the process
 * that has failed; the others go on. */
int processes_start(struct tracer *t, struct process **failed);
/* Takes all breakpoints out while tasks run, drops the calls, ends the trace file (pausing, letting go). */
void process_pause(struct process *p, const char *why);

#endif
