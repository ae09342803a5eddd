/* --attach-file: writes files beside a trace, and their names into the trace. */
#ifndef FT_RECORD_ATTACHMENTS_H
#define FT_RECORD_ATTACHMENTS_H

#include "record/trace.h"

/* Reads the wanted files of /proc/`tid`, a task of the process that still has its memory. The text that was read last
 * of each file is the one that is attached. Does nothing if the trace has no writer. */
void attachments_take(struct trace *trace, pid_t tid);
/* To be called when the trace ends. Writes the texts that were read, and copies of the other wanted files, to files
 * beside the trace's, and passes a record with each file's name to put(). A file that cannot be attached is reported
 * and left out. */
void attachments_write(struct trace *trace, void (*put)(struct trace *trace, const struct record *record));
void attachments_free(struct trace *trace);

#endif
