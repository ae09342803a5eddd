/* Acts on a hit at the return address of a traced function. */
#ifndef FT_CALLS_CALL_RETURN_H
#define FT_CALLS_CALL_RETURN_H

#include "calls/calls.h"

/* Completes each call that returns here. If there is none, counts a miss of the return site. */
void call_return(struct task *task, struct breakpoint *b);
/* Called when a function with this sp handles an exception. Drops the calls whose return_sp is at or below sp, because
 * the exception has left them. Otherwise such a call would seem to return if the program came to the call's return
 * address in another way, with the same sp. */
void calls_left(struct task *task, uint64_t sp);

#endif
