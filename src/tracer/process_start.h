/* Begins, pauses and resumes the tracing of a process. */
#ifndef FT_TRACER_PROCESS_START_H
#define FT_TRACER_PROCESS_START_H

#include "tracer/process.h"

/* Reads the objects, probes their functions, and begins a trace. Returns 0 or -errno. */
int process_start(struct process *p);
/* Does the same as process_start() for a process that runs: functrace is attaching to the process, or its trace was
 * paused. Returns 0, too, if the process is in an execve; then the new program is started later. */
int process_start_running(struct process *p);
/* Removes all breakpoints while tasks run, drops the calls in flight, and writes `why` to the trace, which stays
 * open. */
void process_clear(struct process *p, const char *why);
/* Does the same as process_clear(), and closes the trace. */
void process_pause(struct process *p, const char *why);

#endif
