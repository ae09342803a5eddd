/* Begins, pauses and resumes the tracing of a process. */
#ifndef FT_TRACER_PROCESS_START_H
#define FT_TRACER_PROCESS_START_H

#include "tracer/process.h"

/* Reads the objects, probes their functions, and begins a trace. Returns 0 or -errno. */
int process_start(struct process *p);
/* Does the same as process_start() for a running process, when functrace attaches or tracing is resumed. Also returns 0
 * if the process is in an execve; the tracing of the new program then begins after the execve. */
int process_start_running(struct process *p);
/* Removes all breakpoints while tasks run, drops the calls in flight, and writes `why` to the trace, which stays
 * open. */
void process_clear(struct process *p, const char *why);
/* Does the same as process_clear(), and closes the trace. */
void process_pause(struct process *p, const char *why);

/* Takes all breakpoints and probes out of a process that was started, which then runs as if it were not traced. What
 * was looked up stays known, and the trace goes on. process_wake() puts them in again, also those of objects that were
 * loaded meanwhile: it costs some 2 ms. Calls that are in flight at either time are not recorded. */
void process_rest(struct process *p);
void process_wake(struct process *p);

#endif
