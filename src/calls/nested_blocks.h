/* Blocks that an allocator of the program's own (operator new) gets from another one while it is called. */
#ifndef FT_CALLS_NESTED_BLOCKS_H
#define FT_CALLS_NESTED_BLOCKS_H

#include "calls/calls.h"

/* The call that has just begun is made by the older one's function: whether it allocates the same block is seen when
 * that one returns. */
void inner_begin(struct call *call, struct call *outer);
/* Keeps the allocation of such a call (call->part_of) until then. The event is copied. */
void inner_keep(struct process *p, const struct call *call, const struct event *e);
/* The outer call has given `id`. The block that holds it is the outer one's own, which is written by the caller; all
 * others are written now. False: what it gives is written already, as the inner call's. */
bool inner_settle(struct process *p, struct call *outer, uint64_t id);
/* The outer call has given nothing, or will never return: all are written now. */
void inner_write_all(struct process *p, struct call *outer);
/* The id is released: if it is kept, it is written before. */
void inner_released(struct process *p, uint32_t resource, uint64_t id);
/* The function is going: what is kept and names it is written. */
void inner_forget_function(struct process *p, const struct traced *function);

#endif
