/* The heaps of processes that end: each is copied and read by a thread of its own, while the process's last task waits
 * at its end, and what other processes report is acted on. */
#ifndef FT_TRACER_EXIT_CAPTURES_H
#define FT_TRACER_EXIT_CAPTURES_H

#include "tracer/process.h"

/* A task is at its end. When it is the last of its process (is_last), whose memory goes next, the trace gets what is
 * lost of its live blocks; without --scan, the heap's figures. True: it waits for that, and goes on then by itself. */
bool exit_captures_task_ended(struct task *task, bool is_last);
/* What has been read since is written. To be called again and again; cheap. */
void exit_captures_go_on(struct tracer *t);
/* The process's heap is read now, if it waits for that: its trace is about to end. */
void exit_captures_finish(struct process *p);
/* A task has gone: if its process's heap was to be read by it, that is done now. Others' ends wait for nothing. */
void exit_captures_task_gone(const struct task *task);
/* The same for all. */
void exit_captures_finish_all(struct tracer *t);

#endif
