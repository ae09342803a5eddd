/* What is done at a traced function's return. */
#ifndef FT_CALLS_CALL_RETURN_H
#define FT_CALLS_CALL_RETURN_H

#include "calls/calls.h"

/* Finishes each call that returns here now; without one, counts a miss of the return site. */
void call_return(struct task *task, struct breakpoint *b);
/* A function with that sp handles an exception: what it had called is over, and so is what that had called. Else such a
 * call would seem to return where the program comes by another way, with the same sp, to the instruction behind it. */
void calls_left(struct task *task, uint64_t sp);

#endif
