/* Chooses and opens the files of traces: see trace_file.c. */
#ifndef FT_RECORD_TRACE_FILE_H
#define FT_RECORD_TRACE_FILE_H

#include "record/run.h"
#include "base/buf.h"

/* Makes the packer if traces are to be compressed. To be called before the first trace. Returns 0 or -errno;
 * trace_files_free() must be called in either case. */
int trace_files_begin(struct run *run);
/* Opens the next file of a process's trace, which replaces nothing that this run has written. Sets trace->path to its
 * name, and trace->has_file if it is a regular file that this name opens. Returns a descriptor or -errno. */
int trace_file_open(struct trace *trace);
/* Opens a file beside the trace's, TRACE.NAME. It replaces nothing that this run has written, and in a folder nothing
 * at all. Returns a descriptor or -errno. *path is the file's name, which the caller frees. */
int trace_file_beside(struct trace *trace, const char *name, char **path);
/* Adds a shell pattern that matches all traces of many processes, in a folder or beside -o's FILE. Returns false if
 * there is none. */
bool trace_file_pattern(const struct settings *set, struct buf *b);
void trace_files_free(struct trace_files *files);

#endif
