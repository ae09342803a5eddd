/* Writes the size of a process's resident memory into its trace. */
#ifndef FT_RECORD_RESIDENT_H
#define FT_RECORD_RESIDENT_H

#include "record/trace.h"

/* Writes VmRSS and VmHWM of /proc/TID/status. tid: a task of the process that still has its memory. Does nothing if
 * they cannot be read, if the format has no place for them, or if the trace has no file. */
void resident_put(struct trace *trace, pid_t tid);
/* Calls resident_put() if records were written since its last call. To be called about once a second. */
void resident_tick(struct trace *trace);

#endif
