/* Puts a busy task and the tracer on one CPU, except with --cpu=free: see pin.c. */
#ifndef FT_CALLS_AFFINITY_PIN_H
#define FT_CALLS_AFFINITY_PIN_H

#include "breakpoints/process_text.h"

/* Makes the tracer's part of this room, with no task pinned. */
struct pin *pin_new(void);
void pin_free(struct pin *pin);

/* Called at each hit of a task: may pin it and the tracer to one CPU, or undo that. */
void pin_hit(struct task *task);
/* Called at a hit of a breakpoint that pin_watch() inserted. */
void pin_asked(struct task *task, const struct breakpoint *b);
/* Called at each request that engine_want_tick() asked for. */
void pin_tick(struct tracer *t);
/* With --cpu=auto: gives the task its own CPUs back, because it is about to do something that could show or pass on its
 * CPUs. `why` says what, for a debug message. */
void pin_expose(struct tracer *t, const struct task *task, const char *why);
/* Called at the maker's event: gives the child, which has inherited the maker's one CPU, the maker's own CPUs. */
void pin_birth(struct tracer *t, const struct task *maker, pid_t child);
/* The same for a child that may have been made by the thread group `maker` (0: unknown), without an event. */
void pin_orphan(struct tracer *t, pid_t child, pid_t maker);
/* Called when a task, `former` (0: unknown) until then and `tid` after that, has executed another program. */
void pin_exec(struct tracer *t, pid_t former, pid_t tid);
/* Called when a task has ended: if it is the pinned one, the tracer gets its own CPUs back. */
void pin_gone(struct tracer *t, pid_t tid);
/* Gives the pinned task, if there is one, and the tracer their own CPUs back. */
void pin_undo(struct tracer *t);

#endif
