/* Leaves out calls of a trace whose reader is slow and must never hold up the program (--live).
 *
 * Bytes that the reader has not taken yet wait in the writer. When they are UNREAD_MAX, calls are left out until the
 * reader has taken all bytes. Then the trace gets a note with the number of these calls, the releases of older blocks,
 * and the allocations of those that are alive, without stacks and with the time at which they are written. So the live
 * blocks are right again, and the memory for this grows only with the number of blocks. Calls of kinds with counted
 * references are never left out. */
#ifndef FT_RECORD_UNREAD_CALLS_H
#define FT_RECORD_UNREAD_CALLS_H

#include "record/call_event.h"
#include "record/trace.h"
#include "trace/event.h"

struct unread_calls;

/* Returns NULL for a trace whose writer waits for its reader. */
struct unread_calls *unread_calls_new(const struct trace *trace);
void unread_calls_free(struct unread_calls *unread);
/* Returns whether the call is left out; if so, remembers its effect. */
bool unread_calls_take(struct trace *trace, const struct event *e, enum call_kind kind);
/* Writes the effect of the calls that were left out, if the reader has taken all that was before them or, with is_end,
 * in any case. To be called now and then, and when the trace ends. */
void unread_calls_look(struct trace *trace, bool is_end);

#endif
