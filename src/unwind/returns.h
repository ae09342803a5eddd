/* Return addresses, as a stack has them. */
#ifndef FT_UNWIND_RETURNS_H
#define FT_UNWIND_RETURNS_H

#include "unwind/unwinder.h"

/* frame.c: whether a word of a stack is the address behind a call, in an object or in code made at run time. */
bool unwinder_is_return(struct unwinder *unwinder, uint64_t word);
/* The same of any number, at less cost: code made at run time is known near to where such code has been met. */
bool unwinder_may_return(struct unwinder *unwinder, uint64_t word);

/* frame_pointer.c: the caller of a frame whose code shows no rule, if it keeps a frame pointer: its registers, as far
 * as they are known, and the return address. False, and nothing has changed: the stack does not prove it. */
bool frame_pointer_caller(struct unwinder *unwinder, struct frame_registers *registers, uint64_t *pc);

#endif
