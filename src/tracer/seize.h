/* Seizing all tasks that use an address space: see seize.c. */
#ifndef FT_TRACER_SEIZE_H
#define FT_TRACER_SEIZE_H

#include "ptrace/tracee.h"

/* Between seize_begin() and seize_end() (seize_stops.h): seizes all threads of a process, which have no struct process
 * yet. How many new ones; *error: 0, EBUSY where one of them has another tracer, or why one of them could not be
 * seized. */
size_t seize_tasks(struct tracer *t, pid_t pid, int *error);
/* Processes that share memory. */
struct sharers {
	pid_t *pids; /* the one that was named is the first; the caller's */
	size_t count, capacity;
	pid_t refused; /* one that cannot be seized, 0 none: then nothing may be planted */
	int error;     /* why */
};
/* Seizes all processes that share the memory of the task `one` and are not seized yet; how many. */
size_t seize_sharers(struct tracer *t, struct sharers *s, pid_t one);
/* Gives those tasks to the process that was begun with them, and seizes all other tasks that use its memory or are
 * about to. A process that is shared is made anew, and p freed. */
void seize_rest(struct tracer *t, struct process *p, struct sharers *s);
/* If the process has executed another program meanwhile without an event, drops what was known of its tasks: those that
 * are left have no struct process any more, and the others are to be seized again. False: it has not. */
bool seize_drop_replaced(struct tracer *t, pid_t pid);

#endif
