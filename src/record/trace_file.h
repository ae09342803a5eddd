/* Chooses the names of trace files and opens them; trace_file.c lists the rules. */
#ifndef FT_RECORD_TRACE_FILE_H
#define FT_RECORD_TRACE_FILE_H

#include "record/run.h"
#include "base/buf.h"

/* Creates the packer if traces are to be compressed. To be called before the first trace. Returns 0 or -errno.
 * trace_files_free() must be called in either case. */
int trace_files_begin(struct run *run);
/* Opens the file for a process's next trace. Never overwrites a file that this run has written. Sets trace->path to its
 * name, and trace->has_file if the file is regular and can be opened again by this name. Returns a descriptor or
 * -errno. */
int trace_file_open(struct trace *trace);
/* Creates the file TRACE.NAME beside a trace or, if this name is taken, TRACE.NAME.N. Never overwrites a file that this
 * run has written; if -o is a folder or missing, overwrites no file at all. Returns a descriptor or -errno. Sets *path
 * to the file's name, which the caller frees. */
int trace_file_beside(struct trace *trace, const char *name, char **path);
/* Appends a shell pattern that matches all traces of the run, in a folder or beside -o's FILE. It also matches traces
 * of earlier runs there. Returns false if there is no -o, or no pattern that matches all traces but no attachments. */
bool trace_file_pattern(const struct settings *set, struct buf *b);
void trace_files_free(struct trace_files *files);

#endif
