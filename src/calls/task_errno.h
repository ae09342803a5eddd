/* A task's errno, read from outside. */
#ifndef FT_CALLS_TASK_ERRNO_H
#define FT_CALLS_TASK_ERRNO_H

#include "ptrace/tracee.h"

/* The errno of a stopped task: of its C library's variable, or field, for its thread. False: it is not known where that
 * is (a static program without symbols, another C library), or it cannot be read. Once that is known for a process, one
 * read of its memory, and on some processors one ptrace request. */
bool task_errno(struct task *task, int *value);

#endif
