/* Collects the next stop of any task. */
#ifndef FT_PTRACE_COLLECT_H
#define FT_PTRACE_COLLECT_H

#include "ptrace/tracee.h"

struct collector *collector_new(void); /* Returns a new collector, which the caller frees with free(). */

/* Waits for the next stop and returns it; the kind is STOP_NONE if the tracer has neither children nor tracees left. */
struct stop collect(struct tracer *t);
/* Does the same as collect(), but does not block: returns STOP_NONE if no stop is present. */
struct stop collect_now(struct tracer *t);
/* Collects all stops that are present, without blocking. Returns the stop to handle first, or STOP_NONE; puts the other
 * stops back. */
struct stop collect_all(struct tracer *t);
/* Collects a stop from the kernel, but none that was put back. Does not block: returns STOP_NONE if no stop is
 * present. */
struct stop collect_fresh(struct tracer *t);
/* Returns true if polling may get the next stop sooner than sleeping; false if the tasks need the CPU of the tracer. */
bool collect_may_poll(const struct tracer *t);
/* Returns true if a stop is queued, or if a task has stopped and its stop was not collected. Does not collect it. */
bool collect_is_any(const struct tracer *t);

#endif
