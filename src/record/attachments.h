/* --copy-file: writes copies of files beside a trace, and records with their names into the trace. */
#ifndef FT_RECORD_ATTACHMENTS_H
#define FT_RECORD_ATTACHMENTS_H

#include "record/trace.h"

/* Reads the files of /proc/`tid` that are to be attached. tid: a task of the process that still has its memory. The
 * function may be called several times; the last text of each file is attached. Does nothing if the trace has no
 * writer. */
void attachments_take(struct trace *trace, pid_t tid);
/* To be called when the trace ends. Writes the texts from /proc, and copies of the other files that are to be attached,
 * to files beside the trace. Calls put() with a record for each file. A file that cannot be attached is reported and
 * left out. */
void attachments_write(struct trace *trace, void (*put)(struct trace *trace, const struct record *record));
void attachments_free(struct trace *trace);

#endif
