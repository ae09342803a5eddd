/* Begins, pauses and resumes the tracing of a process. */
#ifndef FT_TRACER_START_H
#define FT_TRACER_START_H

#include "tracer/process.h"

/* Reads the objects, probes their functions, and begins a trace. Returns 0 or -errno. */
int process_start(struct process *p);
/* Does the same for a process that runs: one that is attached to, or was paused. Returns 0, too, if it is executing
 * another program, which is started after that. */
int process_start_running(struct process *p);
/* Removes all breakpoints while tasks run, drops the calls, and writes why; the trace stays open. */
void process_clear(struct process *p, const char *why);
/* Does the same, and closes the trace. */
void process_pause(struct process *p, const char *why);

#endif
