/* Makes a busy task and the tracer share one CPU, except with --cpu=free: see pin.c. */
#ifndef FT_CALLS_AFFINITY_PIN_H
#define FT_CALLS_AFFINITY_PIN_H

#include "breakpoints/process_text.h"

/* Allocates the data of pin.c, with no task pinned. */
struct pin *pin_new(void);
void pin_free(struct pin *pin);

/* Called at each hit of a task: may make the task and the tracer share one CPU, or undo that. */
void pin_hit(struct task *task);
/* Called at a hit of a breakpoint that pin_watch() inserted. If the task is about to see its CPUs, restores the CPUs
 * that it had before. */
void pin_asked(struct task *task, const struct breakpoint *b);
/* Called when a REQUEST_TICK came (engine_want_tick()): undoes the pinning if the task is no longer busy. */
void pin_tick(struct tracer *t);
/* With --cpu=auto: if the task is pinned, restores the CPUs that it had before, because it is about to do something
 * that could show its CPUs to the program or pass them on. `why` names that action, for a debug message. */
void pin_expose(struct tracer *t, const struct task *task, const char *why);
/* Called at the parent's fork or clone event: gives the child, which has inherited the parent's one CPU, the CPUs that
 * the parent had before. */
void pin_birth(struct tracer *t, const struct task *maker, pid_t child);
/* Does the same as pin_birth() for a child without a fork or clone event, whose parent may be in the thread group
 * `maker` (0: unknown). */
void pin_orphan(struct tracer *t, pid_t child, pid_t maker);
/* Called after a task's execve. `former` is its tid before the execve (0: unknown), `tid` its tid after it. */
void pin_exec(struct tracer *t, pid_t former, pid_t tid);
/* Called when a task has ended. If it was the pinned task, restores the CPUs that the tracer had before. */
void pin_gone(struct tracer *t, pid_t tid);
/* Restores the CPUs that the tracer and the pinned task, if there is one, had before. */
void pin_undo(struct tracer *t);

#endif
