/* The next stop of any task. */
#ifndef FT_PTRACE_COLLECT_H
#define FT_PTRACE_COLLECT_H

#include "ptrace/tracee.h"

struct collector *collector_new(void); /* free() frees it */

/* The next stop, blocking; kind STOP_NONE when there are no children left. */
struct stop collect(struct tracer *t);
/* Takes the next stop as collect() does, but does not block: STOP_NONE when there is none now. */
struct stop collect_now(struct tracer *t);
/* Takes all stops that have just been reported, without blocking: one that is to be acted on first, and others are put
 * back. STOP_NONE: there is none. */
struct stop collect_all(struct tracer *t);
/* Takes a stop that has just been reported and was not put back, without blocking. */
struct stop collect_fresh(struct tracer *t);
/* Whether to look again and again gives the next stop sooner than to sleep: not where the task needs this processor. */
bool collect_may_poll(const struct tracer *t);
/* Whether a task has stopped and waits for the tracer: it is looked at, and not taken. */
bool collect_is_any(const struct tracer *t);

#endif
