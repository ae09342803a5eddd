/* Recognizes return addresses on a stack. */
#ifndef FT_UNWIND_RETURN_ADDRESS_H
#define FT_UNWIND_RETURN_ADDRESS_H

#include "unwind/unwinder.h"

/* In frame.c: returns true if the word is the address after a call. The call may be in an object or in code
 * generated at run time. */
bool unwinder_is_return(struct unwinder *unwinder, uint64_t word);
/* Does the same as unwinder_is_return() for a word that may be any number, at less cost: code generated at run time is
 * searched only if the word is an address near such code. */
bool unwinder_may_return(struct unwinder *unwinder, uint64_t word);

/* In frame_pointer.c: finds the caller of a frame whose code shows no rule, if the frame keeps a frame pointer. Sets
 * *registers to the known registers of the caller and *pc to the return address. Returns false, and changes nothing,
 * if the stack does not prove that there is a frame pointer. */
bool frame_pointer_caller(struct unwinder *unwinder, struct frame_registers *registers, uint64_t *pc);

#endif
