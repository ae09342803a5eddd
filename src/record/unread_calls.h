/* Leaves out calls of a trace if its reader is slow, because the reader must never block the program (--live).
 *
 * The writer keeps the bytes for which the pipe has no room. When there are UNREAD_MAX such bytes, calls are left out
 * until the pipe has taken all of them. Then three kinds of records are written: a note with the number of calls that
 * were left out; a release for each older block that was released meanwhile; and an allocation for each new block that
 * is still live, without a stack and with the current time. So the live blocks of the trace are correct again, and the
 * memory that is needed is proportional to the number of blocks. Calls of kinds whose references are counted are never
 * left out. */
#ifndef FT_RECORD_UNREAD_CALLS_H
#define FT_RECORD_UNREAD_CALLS_H

#include "record/call_event.h"
#include "record/trace.h"
#include "trace/event.h"

struct unread_calls;

/* Returns NULL if no calls are to be left out, because the trace's writer waits for its reader. */
struct unread_calls *unread_calls_new(const struct trace *trace);
void unread_calls_free(struct unread_calls *unread);
/* Returns true if the call is to be left out, and remembers its effect on the live blocks. Returns false if it is to be
 * written. */
bool unread_calls_take(struct trace *trace, const struct event *e, enum call_kind kind);
/* If no bytes wait in the writer (writer_waiting()), or if is_end is set, writes the note, the releases and the
 * allocations that replace the calls that were left out. To be called about once a second, and with is_end at the end
 * of the trace. */
void unread_calls_look(struct trace *trace, bool is_end);

#endif
