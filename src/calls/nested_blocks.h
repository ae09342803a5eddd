/* Keeps the events of blocks that an allocation function inside the program (operator new) gets by calling another one
 * (malloc), until the outer function returns. */
#ifndef FT_CALLS_NESTED_BLOCKS_H
#define FT_CALLS_NESTED_BLOCKS_H

#include "calls/calls.h"

/* Notes that the function of the call `outer` makes `call`, which has just begun. The return of `outer` shows whether
 * both allocate the same block. */
void inner_begin(struct call *call, struct call *outer);
/* Keeps a copy of the allocation event of a call until the outer call (call->part_of) returns. */
void inner_keep(struct process *p, const struct call *call, const struct event *e);
/* Called when the outer call returns the block `id`. Drops the kept event whose block contains `id`, because the caller
 * writes the event of the outer call instead. Writes all other kept events. Returns false if an event of an inner call
 * for the block `id` was already written. */
bool inner_settle(struct process *p, struct call *outer, uint64_t id);
/* Writes all kept events of the outer call, because it has returned no block or will never return. */
void inner_write_all(struct process *p, struct call *outer);
/* Writes the kept event of this id, if there is one, because the release of the id is about to be written. */
void inner_released(struct process *p, uint32_t resource, uint64_t id);
/* Writes the kept events that name the function, which is about to be freed. */
void inner_forget_function(struct process *p, const struct traced *function);

#endif
