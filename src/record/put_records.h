/* Writes records into a trace, at once or later, and handles traces that cannot be written. */
#ifndef FT_RECORD_PUT_RECORDS_H
#define FT_RECORD_PUT_RECORDS_H

#include "record/trace.h"

/* number of broken traces that are reported one by one; further ones are only counted */
#define BROKEN_REPORTED 4

/* Writes a record. Does nothing if the trace has no file or has broken off. If the names of a call are not found within
 * a moment, the call and the records after it are queued until the names are found (deferred.h). */
void put_record(struct trace *trace, const struct record *record);
/* Writes a record before the records that were queued after put_defer(). */
void put_record_now(struct trace *trace, const struct record *record);
/* Makes put_record() queue records from now on, as long as the queue has room, so that the records of a baseline or
 * scan can be written before them (put_record_now()). */
void put_defer(struct trace *trace);
/* Returns true after put_defer(), until put_undefer() is called or the queue is full. */
bool put_is_deferring(const struct trace *trace);
/* Ends the effect of put_defer(), and writes the queued records that are ready. */
void put_undefer(struct trace *trace);
/* Writes the queued records up to the first one whose names are not known yet, but at most up to the mark
 * (deferred.h). */
void put_ready(struct trace *trace);
/* Writes all queued records. First waits for their names: less than a second if has_other_tasks (tasks are still
 * traced, and stay stopped meanwhile), a few seconds after a request to detach, otherwise until all are found. A stack
 * whose names are still missing is written with addresses, and counted. */
void put_finish(struct trace *trace, bool has_other_tasks);
/* Marks the trace as broken, so that the process is detached, and reports the error once. error: a negative errno. */
void put_failed(struct trace *trace, int error);
/* Returns true if the trace's file is empty, because not even its beginning could be written. */
bool put_is_empty(const struct trace *trace);

#endif
