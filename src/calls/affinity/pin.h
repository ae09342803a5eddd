/* Placement of a busy task and the tracer on one CPU, but for --cpu=free: see pin.c. */
#ifndef FT_CALLS_AFFINITY_PIN_H
#define FT_CALLS_AFFINITY_PIN_H

#include "breakpoints/process_text.h"

/* The tracer's part for this floor: no task is pinned yet. */
struct pin *pin_new(void);
void pin_free(struct pin *pin);

/* Each hit of a task: may pin it and the tracer to one CPU, or undo that. */
void pin_hit(struct task *task);
/* A hit of a breakpoint that is there for this. */
void pin_asked(struct task *task, const struct breakpoint *b);
/* A request of engine_want_tick() has come. */
void pin_tick(struct tracer *t);
/* The task is about to do what could show or pass on its CPUs, as `why` says: with --cpu=auto it gets its own back. */
void pin_expose(struct tracer *t, const struct task *task, const char *why);
/* The maker's event; the child has got its CPUs. */
void pin_birth(struct tracer *t, const struct task *maker, pid_t child);
/* The group `maker` (0: not known) may have made the child without an event that reported it: the child has got its
 * CPUs. */
void pin_orphan(struct tracer *t, pid_t child, pid_t maker);
/* The task that was `former` (0 not known) is `tid` now and has executed another program. */
void pin_exec(struct tracer *t, pid_t former, pid_t tid);
/* The task has ended: if it is the pinned one, the tracer gets its own CPUs back. */
void pin_gone(struct tracer *t, pid_t tid);
/* Gives the pinned task, if there is one, and the tracer their own CPUs back. */
void pin_undo(struct tracer *t);

#endif
