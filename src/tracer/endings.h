/* The heaps of processes that end: each is copied and read by a thread of its own, while the process's last task waits
 * at its end, and what other processes report is acted on. */
#ifndef FT_TRACER_ENDINGS_H
#define FT_TRACER_ENDINGS_H

#include "tracer/process.h"

/* The last task of its process is at its end (PTRACE_EVENT_EXIT), and process.life->ending has the registers of all.
 * The trace gets what is lost (with_lost), or the allocator's figures alone; then the task goes on. */
void endings_begin(struct task *last, bool with_lost);
/* What has been read since is written. To be called again and again; cheap. */
void endings_go_on(struct tracer *t);
/* The process's heap is read now, if it waits for that: its trace is about to end, or its task has gone. */
void endings_finish(struct process *p);
/* The same for all. */
void endings_finish_all(struct tracer *t);

#endif
