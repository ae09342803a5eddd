/* How records get into a trace, at once or later, and what happens where they cannot be written. */
#ifndef FT_RECORD_PUT_H
#define FT_RECORD_PUT_H

#include "record/trace.h"

#define BROKEN_REPORTED 4 /* traces that cannot be written any more, one by one */

/* Nothing where the trace has no file, or cannot be written any more. */
void put_record(struct trace *trace, const struct record *record);
/* Before those that are deferred. */
void put_record_now(struct trace *trace, const struct record *record);
/* From now on records wait, as far as they can (deferred.h): a census that comes later is written before them. */
void put_defer(struct trace *trace);
/* Those that wait are written. */
void put_undefer(struct trace *trace);
/* The trace cannot be written: says so, once. error: -errno. */
void put_failed(struct trace *trace, int error);
/* Not even its beginning could be written. */
bool put_is_empty(const struct trace *trace);

#endif
