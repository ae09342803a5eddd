/* Puts records into a trace, at once or later, and handles traces that cannot be written. */
#ifndef FT_RECORD_PUT_RECORDS_H
#define FT_RECORD_PUT_RECORDS_H

#include "record/trace.h"

#define BROKEN_REPORTED 4 /* this many traces that break off are reported one by one */

/* Writes a record. Does nothing if the trace has no file or has broken off. A call whose names are not found in a
 * moment waits for them, and the records after it wait, too (deferred.h). */
void put_record(struct trace *trace, const struct record *record);
/* Writes a record before those that wait since put_defer(). */
void put_record_now(struct trace *trace, const struct record *record);
/* Makes later records wait, as long as there is room for them, so that the records of a baseline or scan come first. */
void put_defer(struct trace *trace);
/* Returns whether records wait for a baseline or scan. They no longer do if there were too many. */
bool put_is_deferring(const struct trace *trace);
/* Records no longer wait for a baseline or scan. */
void put_undefer(struct trace *trace);
/* Writes the waiting records up to the first one whose names are not known yet. */
void put_ready(struct trace *trace);
/* Writes all waiting records. First waits for names: less than a second if has_other_tasks (tasks are still traced and
 * wait meanwhile), a few seconds after a request to let go, otherwise as long as it takes. A stack that still lacks
 * names is written with addresses, and counted. */
void put_finish(struct trace *trace, bool has_other_tasks);
/* Marks the trace as broken and reports the error once. error: -errno. */
void put_failed(struct trace *trace, int error);
/* Returns whether the trace's file is empty: not even its beginning could be written. */
bool put_is_empty(const struct trace *trace);

#endif
