/* Keeps the blocks that an allocator of the program's own (operator new) gets from another allocator during a call. */
#ifndef FT_CALLS_NESTED_BLOCKS_H
#define FT_CALLS_NESTED_BLOCKS_H

#include "calls/calls.h"

/* Notes that the function of `outer` makes the call, which has just begun. The return of `outer` shows whether both
 * allocate the same block. */
void inner_begin(struct call *call, struct call *outer);
/* Keeps the allocation of such a call (call->part_of) until the outer one returns. The event is copied. */
void inner_keep(struct process *p, const struct call *call, const struct event *e);
/* Ends the keeping: the outer call returns `id`. Drops the kept block that contains it, because the caller writes that
 * block as the outer call's, and writes all others. Returns false if `id` was already written as the inner call's. */
bool inner_settle(struct process *p, struct call *outer, uint64_t id);
/* Writes all kept blocks: the outer call has returned nothing, or will never return. */
void inner_write_all(struct process *p, struct call *outer);
/* Writes the kept block of this id, if there is one, because its release is about to be written. */
void inner_released(struct process *p, uint32_t resource, uint64_t id);
/* Writes the kept blocks whose events name the function, which is about to be freed. */
void inner_forget_function(struct process *p, const struct traced *function);

#endif
