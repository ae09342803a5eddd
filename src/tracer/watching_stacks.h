/* The stacks that a watch has seen. A stack is known by its frames' places in files, so that it is the same when a
 * library was unloaded and loaded again elsewhere. */
#ifndef FT_TRACER_WATCHING_STACKS_H
#define FT_TRACER_WATCHING_STACKS_H

#include "base/buf.h"
#include "record/trace_output.h"
#include "watch/interval.h"

struct watching_stacks;

/* Returns an empty table. watching_stacks_free() frees it; NULL is allowed. */
struct watching_stacks *watching_stacks_new(void);
void watching_stacks_free(struct watching_stacks *s);
/* Appends the table as bytes; makes a table of bytes, and moves *bytes behind them. Returns NULL if they are
 * damaged. */
void watching_stacks_save(const struct watching_stacks *s, struct buf *out);
struct watching_stacks *watching_stacks_load(const unsigned char **bytes, size_t *left);
uint32_t watching_stacks_count(const struct watching_stacks *s);
/* Returns the number of an event's stack, and counts its bytes. objects: those of the process at this time. */
uint32_t watching_stack(struct watching_stacks *s, const struct object_list *objects, const struct event *e);
/* Called when the process may have other objects at the addresses of earlier stacks. */
void watching_stacks_moved(struct watching_stacks *s);
/* Sets the stack's id, frames, and the sums of its calls and bytes (`calls`, `allocated`) in a row. Reads files to find
 * names. The frames are valid until watching_stacks_free(). */
void watching_stack_row(struct watching_stacks *s, uint32_t stack, struct watch_row *row);

#endif
