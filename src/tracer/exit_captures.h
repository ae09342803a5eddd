/* Captures the heaps of processes that end. Each is copied and read by a thread of its own, while the process's last
 * task waits at its end, and stops of other processes are acted on. */
#ifndef FT_TRACER_EXIT_CAPTURES_H
#define FT_TRACER_EXIT_CAPTURES_H

#include "tracer/process.h"

/* Called when a task is at its end. If it is the last of its process (is_last), whose memory is freed next, the trace
 * gets the live blocks that are lost; without --scan, the heap's figures. Returns true if the task waits for that; it
 * is then continued afterwards. */
bool exit_captures_task_ended(struct task *task, bool is_last);
/* Writes what has been read meanwhile. Called again and again; cheap. */
void exit_captures_go_on(struct tracer *t);
/* Finishes the process's capture, if there is one, because its trace is about to end. */
void exit_captures_finish(struct process *p);
/* Called when a task has gone. Finishes the capture that was to be made through this task. The ends of other tasks wait
 * for nothing. */
void exit_captures_task_gone(const struct task *task);
/* Finishes all captures. */
void exit_captures_finish_all(struct tracer *t);

#endif
