/* Getting past a breakpoint, and resuming. */
#ifndef FT_BREAKPOINTS_STEP_OVER_H
#define FT_BREAKPOINTS_STEP_OVER_H

#include "breakpoints/process_text.h"

/* Has a task that was stopped by a hit of `b` go on behind it, as if the breakpoint were not there: resumes it. May
 * stop all other tasks of its process for a while. Where the breakpoint has gone, the task goes on at its address; a
 * task that was killed meanwhile reports that as its next stop. */
void step_over_breakpoint(struct task *task, struct breakpoint *b);
/* Sends a task that has stopped for a SIGTRAP back to the instruction under the breakpoint that it has hit, which has
 * not run. False: it has hit none. */
bool hit_take_back(struct task *task);
/* jump_follow.c: the breakpoint that the task will hit next, before anything else, if it is passed: then task->regs are
 * those of that hit (the task's own are not written); else NULL. */
struct breakpoint *follow_jump(struct task *task, struct breakpoint *b);

#endif
