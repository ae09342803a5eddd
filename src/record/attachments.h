/* --attach-file: files beside a trace, which names them. */
#ifndef FT_RECORD_ATTACHMENTS_H
#define FT_RECORD_ATTACHMENTS_H

#include "record/trace.h"

/* Reads, under the id of a task that has its process's memory, what is wanted of /proc: the last that could be read is
 * what is attached. Does nothing for a trace without a file. */
void attachments_take(struct trace *trace, pid_t tid);
/* The trace ends: writes what was read and copies what else is wanted to files beside the trace's, and their names into
 * the trace. What cannot be attached is reported, and costs nothing else. */
void attachments_write(struct trace *trace, void (*put)(struct trace *trace, const struct record *record));
void attachments_free(struct trace *trace);

#endif
