/* Steps tasks over breakpoints and resumes them. */
#ifndef FT_BREAKPOINTS_STEP_OVER_H
#define FT_BREAKPOINTS_STEP_OVER_H

#include "breakpoints/process_text.h"

/* Continues a task that is stopped by a hit of `b` as if the breakpoint were not there. May stop all other tasks of its
 * process for a while. If the breakpoint is no longer inserted, the task continues at the breakpoint's address. If the
 * task is killed meanwhile, a later wait reports its end. */
void step_over_breakpoint(struct task *task, struct breakpoint *b);
/* If a task that stopped for a SIGTRAP has hit a breakpoint of functrace, sets its pc back to the instruction under the
 * breakpoint, which has not run. Returns false if the task has hit none. */
bool hit_take_back(struct task *task);
/* In tail_jump.c. Returns the breakpoint that the task will hit next, before any other event, if it runs the
 * instruction under `b`; NULL if that is unknown. Sets task->regs to the registers at that next hit, but does not write
 * them to the task. */
struct breakpoint *follow_jump(struct task *task, struct breakpoint *b);

#endif
