/* Reads a task's errno from outside. */
#ifndef FT_CALLS_TASK_ERRNO_H
#define FT_CALLS_TASK_ERRNO_H

#include "ptrace/tracee.h"

/* Reads the errno of a stopped task, which is a variable or field of its C library for this thread. Returns false if
 * its place is unknown (a static program without symbols, another C library), or if it cannot be read. When the place
 * is known for the process, this is one read of its memory, and on some processors one ptrace request. */
bool task_errno(struct task *task, int *value);

#endif
