/* How much memory of a process is resident, as the kernel counts it: into its trace. */
#ifndef FT_RECORD_RESIDENT_H
#define FT_RECORD_RESIDENT_H

#include "record/trace.h"

/* Writes what /proc/TID/status says now, of one of the process's tasks that has its memory still. Nothing where that
 * cannot be read, where the format has no place for it, or where the trace has no file. */
void resident_put(struct trace *trace, pid_t tid);
/* About once a second: the same, if calls have been written since it was last. */
void resident_tick(struct trace *trace);

#endif
