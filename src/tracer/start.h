/* Where tracing of a process begins, pauses and goes on. */
#ifndef FT_TRACER_START_H
#define FT_TRACER_START_H

#include "tracer/process.h"

/* Reads the objects, probes what they define, begins a trace. 0 or -errno. */
int process_start(struct process *p);
/* The same of a process that runs: one that is attached to, or was paused. 0, too, where it is executing another
 * program, which is started after that. */
int process_start_running(struct process *p);
/* Takes all breakpoints out while tasks run, drops the calls, and writes why; the trace is not closed. */
void process_clear(struct process *p, const char *why);
/* The same, and closes the trace. */
void process_pause(struct process *p, const char *why);

#endif
