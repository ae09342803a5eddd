/* Recognizes return addresses on a stack. */
#ifndef FT_UNWIND_RETURNS_H
#define FT_UNWIND_RETURNS_H

#include "unwind/unwinder.h"

/* In frame.c: true if the word is the address after a call, in an object or in code made at run time. */
bool unwinder_is_return(struct unwinder *unwinder, uint64_t word);
/* The same for any number, at less cost: an address near known code made at run time counts as such code. */
bool unwinder_may_return(struct unwinder *unwinder, uint64_t word);

/* In frame_pointer.c: finds the caller of a frame whose code shows no rule, if it keeps a frame pointer. Gets the
 * known registers and the return address. Returns false, and changes nothing, if the stack does not prove it. */
bool frame_pointer_caller(struct unwinder *unwinder, struct frame_registers *registers, uint64_t *pc);

#endif
