/* How records get into a trace, at once or later, and what happens where they cannot be written. */
#ifndef FT_RECORD_PUT_H
#define FT_RECORD_PUT_H

#include "record/trace.h"

#define BROKEN_REPORTED 4 /* traces that cannot be written any more, one by one */

/* Nothing where the trace has no file, or cannot be written any more. A call whose names are not known in a moment
 * waits for them, and so does what comes after it (deferred.h). */
void put_record(struct trace *trace, const struct record *record);
/* Before those that wait since put_defer(). */
void put_record_now(struct trace *trace, const struct record *record);
/* From now on records wait, as far as there is room for them: those of a baseline or scan come before them. */
void put_defer(struct trace *trace);
/* Whether they do: no longer when there were too many. */
bool put_is_deferring(const struct trace *trace);
/* They do not wait for that any more. */
void put_undefer(struct trace *trace);
/* Writes those that wait and whose names are known by now. */
void put_ready(struct trace *trace);
/* Writes all that wait. Names are waited for: where something is attached less than a second, after a request to let go
 * a few seconds, else as long as it takes; then addresses stand for them, which is counted. */
void put_finish(struct trace *trace, bool is_attached);
/* The trace cannot be written: says so, once. error: -errno. */
void put_failed(struct trace *trace, int error);
/* Not even its beginning could be written. */
bool put_is_empty(const struct trace *trace);

#endif
