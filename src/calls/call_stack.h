/* Reads the stack of a stopped task whose registers are known. */
#ifndef FT_CALLS_CALL_STACK_H
#define FT_CALLS_CALL_STACK_H

#include "calls/calls.h"

/* Finds the return address of the call just entered. If with_stack, also reads the bytes that a later walk will need.
 * Returns false if it cannot be read. */
bool stack_return_address(struct task *task, bool with_stack, uint64_t *address);
/* Keeps the bytes that were read at this entry for the call's return, where they are valid again. */
void stack_keep(struct task *task, struct call *call);
/* Restores at the call's return the bytes that stack_keep() kept. */
void stack_recall(struct task *task, const struct call *call);
/* Walks the stack of a task at a breakpoint. Returns the number of frames: up to max, or up to one whose CFA is at or
 * above until_cfa (0: no limit). *cut: there are more. */
size_t stack_walk(struct task *task, struct unwind_frame *frames, size_t max, uint64_t until_cfa, bool *cut);
/* Sets the stack of an event, as deep as the user wants for the event's size. At an entry the walk begins in the traced
 * function itself, which is not shown; at a return it begins in the caller. The event's frames are in `frames`, which
 * the caller of this function owns. */
void stack_of_event(struct event *e, struct task *task, struct unwind_frame frames[MAX_FRAMES + 2], bool at_entry);

#endif
