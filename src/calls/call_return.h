/* Acts on a hit at the return address of a traced function. */
#ifndef FT_CALLS_CALL_RETURN_H
#define FT_CALLS_CALL_RETURN_H

#include "calls/calls.h"

/* Completes each call that returns here. If there is none, counts a miss of the return site. */
void call_return(struct task *task, struct breakpoint *b);

#endif
