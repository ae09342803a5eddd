/* Seizes all tasks that use an address space: see seize.c. */
#ifndef FT_TRACER_SEIZE_H
#define FT_TRACER_SEIZE_H

#include "ptrace/tracee.h"

/* Seizes all threads of a process, which have no struct process yet. Called between seize_begin() and seize_end()
 * (seize_stops.h). Returns the number of newly seized threads. *error: 0; EBUSY if a thread has another tracer; or the
 * errno with which a thread could not be seized. */
size_t seize_tasks(struct tracer *t, pid_t pid, int *error);
/* Processes that share one memory. */
struct sharers {
	pid_t *pids; /* the first is the process to which functrace attaches; the caller owns the array */
	size_t count, capacity;
	pid_t refused; /* a process that cannot be seized, so that no breakpoint may be inserted; 0: none */
	int error;     /* errno of the attempt to seize `refused` */
};
/* Seizes all processes that share the memory of the task `one` and are not seized yet. Returns the number of these
 * processes. */
size_t seize_sharers(struct tracer *t, struct sharers *s, pid_t one);
/* Adds the tasks of the sharers to process p, and seizes all other tasks that use its memory or are about to. If
 * several processes share the memory, makes p anew and frees the old struct. */
void seize_rest(struct tracer *t, struct process *p, struct sharers *s);
/* If an untraced thread of the process has called execve, so that no event reported it, frees the process's tasks that
 * functrace no longer traces, and returns true. Its other tasks then have no struct process, and the caller seizes the
 * threads of the new program that are not traced yet. */
bool seize_drop_replaced(struct tracer *t, pid_t pid);

#endif
