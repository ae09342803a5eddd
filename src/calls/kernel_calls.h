/* Calls that the kernel's probes have recorded (src/uprobe). */
#ifndef FT_CALLS_KERNEL_CALLS_H
#define FT_CALLS_KERNEL_CALLS_H

#include "calls/calls.h"
#include "uprobe/uprobe_record.h"

/* number of frames by which a recorded stack is longer than an event's, because frames of functions that the event is
 * named by are dropped, and because one more shows that the stack goes on */
#define KERNEL_FRAMES_MORE 3

/* Acts on a record as on the hits of breakpoints at the function's entry and at its return. The task runs, or is in a
 * later stop. */
void kernel_call(struct task *task, const struct uprobe_record *record);
/* To be called at the breakpoint of a function's entry. If the kernel waits for the return of a call of this task, of
 * which it has made no record yet, acts on the entry of that call: the function at the breakpoint is inside it. */
void kernel_calls_begin(struct task *task, const struct breakpoint *inner);

#endif
