/* What is done at a traced function's entry and at its return. */
#ifndef FT_CALLS_ENTER_H
#define FT_CALLS_ENTER_H

#include "calls/calls.h"

void call_enter(struct task *task, struct breakpoint *b);
void call_return(struct task *task, struct breakpoint *b);
/* At the entry of a hook or of an IFUNC's resolver: its return is watched, nothing is written. */
void call_watch(struct task *task, struct breakpoint *b);

#endif
