/* Captures the heaps of processes that end. A background thread copies and reads each heap, while the process's last
 * task stays in its exit stop, and the tracer acts on stops of other processes. */
#ifndef FT_TRACER_EXIT_CAPTURES_H
#define FT_TRACER_EXIT_CAPTURES_H

#include "tracer/process.h"

/* Called at a task's exit stop. If it is the last task of its process (is_last), the kernel frees the memory next, so
 * first the lost blocks are written to the trace; without --scan, the heap's figures. Returns true if the task stays
 * stopped for this; then it is continued later. */
bool exit_captures_task_ended(struct task *task, bool is_last);
/* Writes the results of the captures that background threads have completed. Called often; cheap. */
void exit_captures_go_on(struct tracer *t);
/* Completes the process's capture, if there is one, because its trace is about to end. */
void exit_captures_finish(struct process *p);
/* Called when a task has gone. Completes the capture that reads the memory through this task, if there is one. */
void exit_captures_task_gone(const struct task *task);
/* Completes all captures. */
void exit_captures_finish_all(struct tracer *t);

#endif
