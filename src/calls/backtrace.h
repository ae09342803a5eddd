/* Reads the stack of a stopped task whose registers were read. */
#ifndef FT_CALLS_BACKTRACE_H
#define FT_CALLS_BACKTRACE_H

#include "calls/calls.h"

/* Gets the return address of the call just entered. If with_stack, also reads the stack bytes that a later walk will
 * need. Returns false if the address cannot be read. */
bool stack_return_address(struct task *task, bool with_stack, uint64_t *address);
/* Keeps the stack bytes that were read at the call's entry, because they are valid again at its return. */
void stack_keep(struct task *task, struct call *call);
/* Called at the call's return. If stack_keep() kept stack bytes for this call, a walk at this stop uses them, and does
 * not read them again. */
void stack_recall(struct task *task, const struct call *call);
/* Walks the stack of a task at a breakpoint. Returns the number of frames: at most `max`; the walk ends with the first
 * frame whose CFA is at or above until_cfa (0: no limit). *cut: the walk ended before `max` and until_cfa, because the
 * next frame could not be found (unwind_stack()). */
size_t stack_walk(struct task *task, struct unwind_frame *frames, size_t max, uint64_t until_cfa, bool *cut);
/* Notes the true return address of a call whose return address the kernel has replaced. */
void stack_note_replaced(struct task *task, uint64_t return_sp, uint64_t return_address);
/* While a call is in flight whose return is probed, the kernel has replaced its return address on the stack by the
 * address of its trampoline. Returns the address that belongs there; `return_sp` is the address after that place. */
uint64_t stack_true_return(struct task *task, uint64_t return_sp, uint64_t address);
/* Does this for all such places in bytes of the stack, which begin at address `start`. */
void stack_restore_returns(struct task *task, uint64_t start, unsigned char *bytes, size_t size);
/* Reads memory for a walk through a copy of the stack, while the task runs: only code and the data of objects. Stacks,
 * also another one that a signal handler has interrupted, have changed since the copy was made. */
ssize_t stack_read_running(struct process *p, uint64_t address, void *data, size_t size);
/* Sets the stack of an event, with the number of frames that the user wants (-b), unless the user wants no stacks for
 * the event's size (-M). At an entry the walk begins in the traced function itself, which is not shown; at a return it
 * begins in the caller. The event points to `frames`, which the caller owns. */
void stack_of_event(struct event *e, struct task *task, struct unwind_frame frames[MAX_FRAMES + 2], bool at_entry);

#endif
