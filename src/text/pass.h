/* Getting past a breakpoint, and resuming. */
#ifndef FT_TEXT_PASS_H
#define FT_TEXT_PASS_H

#include "text/text.h"

void pass_breakpoint(struct task *task, struct breakpoint *b);
/* Of a task that has stopped for a SIGTRAP: if it has hit a breakpoint, it is sent back to the instruction, which has
 * not run. False: it has hit none. */
bool hit_take_back(struct task *task);
/* follow.c: the breakpoint that the task will hit next, before anything else, if it is passed: then task->regs are
 * those of that hit (the task's own are not written); else NULL. */
struct breakpoint *follow_jump(struct task *task, struct breakpoint *b);

#endif
