/* Where traces go: see trace_file.c. */
#ifndef FT_RECORD_TRACE_FILE_H
#define FT_RECORD_TRACE_FILE_H

#include "record/run.h"
#include "base/buf.h"

/* Before the first of them: makes what compresses them, if they are to be. 0 or -errno. To be undone by
 * trace_files_free() in any case. */
int trace_files_begin(struct run *run);
/* Opens the next file of a process's trace, which replaces nothing that this run has written; trace->path is its name,
 * trace->has_file whether it is a regular file that can be opened by it. A descriptor, or -errno. */
int trace_file_open(struct trace *trace);
/* Opens a file beside the trace's, TRACE.NAME, which replaces nothing that this run has written, and in a folder
 * nothing at all. A descriptor, or -errno; *path: its name, which the caller frees. */
int trace_file_beside(struct trace *trace, const char *name, char **path);
/* A shell's pattern that all traces of many processes match, in a folder or beside -o's FILE. False: there is none. */
bool trace_file_pattern(const struct settings *set, struct buf *b);
void trace_files_free(struct trace_files *files);

#endif
