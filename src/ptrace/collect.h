/* Takes the next stop of any task. */
#ifndef FT_PTRACE_COLLECT_H
#define FT_PTRACE_COLLECT_H

#include "ptrace/tracee.h"

struct collector *collector_new(void); /* the caller frees it with free() */

/* Waits for the next stop and returns it; kind STOP_NONE if there are no children left. */
struct stop collect(struct tracer *t);
/* Takes the next stop as collect() does, but does not block. Returns STOP_NONE if there is no stop now. */
struct stop collect_now(struct tracer *t);
/* Takes all stops that are present, without blocking. Returns the stop to handle first, or STOP_NONE; puts the others
 * back. */
struct stop collect_all(struct tracer *t);
/* Takes a new stop, not one that was put back, without blocking. */
struct stop collect_fresh(struct tracer *t);
/* True if polling gets the next stop sooner than sleeping. It does not if the task needs this processor. */
bool collect_may_poll(const struct tracer *t);
/* True if a task has stopped and waits for the tracer. Does not take the stop. */
bool collect_is_any(const struct tracer *t);

#endif
