/* What is done at a traced function's entry and at its return. */
#ifndef FT_CALLS_ENTER_H
#define FT_CALLS_ENTER_H

#include "calls/calls.h"

/* An entry of each of the breakpoint's probes but the dynamic linker's notice. */
void call_enter(struct task *task, struct breakpoint *b);
/* Of each call that returns here now. */
void call_return(struct task *task, struct breakpoint *b);

#endif
