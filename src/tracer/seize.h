/* Seizes all tasks that use an address space: see seize.c. */
#ifndef FT_TRACER_SEIZE_H
#define FT_TRACER_SEIZE_H

#include "ptrace/tracee.h"

/* Called between seize_begin() and seize_end() (seize_stops.h): seizes all threads of a process, which have no struct
 * process yet. Returns how many new ones. *error: 0; EBUSY if one of them has another tracer; or why one of them could
 * not be seized. */
size_t seize_tasks(struct tracer *t, pid_t pid, int *error);
/* Processes that share memory. */
struct sharers {
	pid_t *pids; /* the first is the one that was named; the caller owns the array */
	size_t count, capacity;
	pid_t refused; /* one that cannot be seized, so that no breakpoint may be inserted; 0: none */
	int error;     /* why */
};
/* Seizes all processes that share the memory of the task `one` and are not seized yet. Returns how many. */
size_t seize_sharers(struct tracer *t, struct sharers *s, pid_t one);
/* Gives these tasks to process p, and seizes all other tasks that use its memory or are about to. A process that is
 * shared is made anew, and p is freed. */
void seize_rest(struct tracer *t, struct process *p, struct sharers *s);
/* If the process has executed another program without an event, drops what was known of its tasks, and returns true.
 * Those that are left have no struct process any more, and the others are to be seized again. */
bool seize_drop_replaced(struct tracer *t, pid_t pid);

#endif
