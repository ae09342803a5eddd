/* Reads the errno of a stopped task from the task's memory. */
#ifndef FT_CALLS_TASK_ERRNO_H
#define FT_CALLS_TASK_ERRNO_H

#include "ptrace/tracee.h"

/* Reads the errno of a stopped task, which is a thread-local variable or field of its C library. Returns false if its
 * address is unknown (a static program without symbols, another C library), or if it cannot be read. Once the process's
 * errno_offset is known, this takes one read of memory, and on some processors one ptrace request. */
bool task_errno(struct task *task, int *value);

#endif
