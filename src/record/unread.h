/* A trace whose reader never holds the program (--live).
 *
 * What the reader has not taken yet waits in the writer. Once that is UNREAD_MAX bytes, calls are left out, until the
 * reader has taken all of it. Then come a note of how many they were, the releases of blocks from before, and the
 * allocations of those that are alive: without stacks, and at the time when they are written. So what is alive is right
 * again, for as many bytes of memory as there are live blocks. References that are counted are not left out. */
#ifndef FT_RECORD_UNREAD_H
#define FT_RECORD_UNREAD_H

#include "record/call_event.h"
#include "record/trace.h"
#include "trace/event.h"

struct unread;

/* NULL for a trace whose reader is waited for. */
struct unread *unread_new(const struct trace *trace);
void unread_free(struct unread *unread);
/* Whether the call is left out now. */
bool unread_takes(struct trace *trace, const struct event *e, enum call_kind kind);
/* To be called now and then: writes what was left out, if the reader has taken all that was before; at the trace's end
 * (`is_end`) in any case. */
void unread_look(struct trace *trace, bool is_end);

#endif
