/* Captures the heaps of processes that end. A background thread copies and reads each heap, while the process's last
 * task stays in its exit stop, and the tracer acts on stops of other processes. */
#ifndef FT_TRACER_EXIT_CAPTURES_H
#define FT_TRACER_EXIT_CAPTURES_H

#include "tracer/process.h"

/* Called at a task's exit event. If the task is the last of its process (is_last), the kernel frees the memory next. So
 * this function begins the capture of the heap, for the lost blocks or, without --scan, for the allocator's figures.
 * Returns true if the task stays stopped for the capture. The end of the capture resumes the task. */
bool exit_captures_task_ended(struct task *task, bool is_last);
/* Begins the next step of each capture whose background thread has done its work: classifying the blocks, or writing
 * the results. Called often, and cheap if no thread has done its work. */
void exit_captures_go_on(struct tracer *t);
/* Completes the process's capture, if there is one, because the process's trace is about to end. */
void exit_captures_finish(struct process *p);
/* Called when a task has gone. Completes the process's capture if the capture reads the memory through this task, or if
 * the task is the leader. If the process has ended without a capture, writes that its leaks are unknown. */
void exit_captures_task_gone(const struct task *task);
/* Completes all captures. */
void exit_captures_finish_all(struct tracer *t);

#endif
