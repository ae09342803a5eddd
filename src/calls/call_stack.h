/* The stack of a stopped task whose registers are known. */
#ifndef FT_CALLS_CALL_STACK_H
#define FT_CALLS_CALL_STACK_H

#include "calls/calls.h"

/* Where the call just entered returns to. If with_stack, also reads the bytes that a later walk will need. False if it
 * cannot be read. */
bool stack_return_address(struct task *task, bool with_stack, uint64_t *address);
/* Keeps the bytes that were read at this entry for the call's return, where they are good again. */
void stack_keep(struct task *task, struct call *call);
/* At the return of that call: what stack_keep() kept for it is good again. */
void stack_recall(struct task *task, const struct call *call);
/* Up to max frames of a task at a breakpoint, until one whose CFA is until_cfa or above it (0: all). *cut: there are
 * more. */
size_t stack_walk(struct task *task, struct unwind_frame *frames, size_t max, uint64_t until_cfa, bool *cut);
/* The stack of an event, as the user wants it for the event's size. At an entry the walk begins in the traced function
 * itself, which is not shown; at a return it begins in the caller. `frames`, the caller's, is what the event's frames
 * are in. */
void stack_of_event(struct event *e, struct task *task, struct unwind_frame frames[MAX_FRAMES + 2], bool at_entry);

#endif
