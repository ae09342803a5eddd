/* Writes into a process's trace how much of its memory is resident, as the kernel counts it. */
#ifndef FT_RECORD_RESIDENT_H
#define FT_RECORD_RESIDENT_H

#include "record/trace.h"

/* Writes what /proc/TID/status says, where `tid` is a task of the process that still has its memory. Does nothing if it
 * cannot be read, the format has no place for it, or the trace has no file. */
void resident_put(struct trace *trace, pid_t tid);
/* Does the same if calls have been written since the last time. To be called about once a second. */
void resident_tick(struct trace *trace);

#endif
