/* Abandoned calls: calls in flight whose return will not be seen, because an exception or longjmp has left them, their
 * code is unloaded, or functrace lets the process go.
 *
 * A call that an exception or longjmp has left is noticed at one of these stops: a function handles the exception
 * (calls_abandoned_below()); a return site is hit without a call (calls_abandoned_at_site()); another call begins with
 * the same stack pointer (call_enter.c); or another call begins, and the frame of the left call is not found on the
 * stack (nesting.c). */
#ifndef FT_CALLS_ABANDONED_CALLS_H
#define FT_CALLS_ABANDONED_CALLS_H

#include "calls/calls.h"

/* Counts and drops a call that never returned. If the call is recorded, a note in the trace says so. */
void call_abandon(struct process *p, struct call *call);
/* Called when a function with this sp handles an exception. Drops the calls that the exception has left: those whose
 * return_sp is sp, and those of the task with a return_sp a little below sp that are not on the stack any more.
 * Otherwise such a call would seem to return if the program came to the call's return address in another way, with the
 * same sp. */
void calls_abandoned_below(struct task *task, uint64_t sp);
/* Called at a hit of a return site at which no traced call returns with this sp. Drops the task's calls that would
 * return here, and whose return_sp is a little below sp. */
void calls_abandoned_at_site(struct task *task, const struct breakpoint *b, uint64_t sp);
/* Drops all calls in flight, because their returns will not be seen. The calls get no events; for recorded calls the
 * trace gets a note. */
void calls_drop_all(struct process *p);
/* Drops the calls of the breakpoint's probes, and the calls that return to it, because its code is unloaded. */
void calls_drop_site(struct process *p, const struct breakpoint *b);

#endif
