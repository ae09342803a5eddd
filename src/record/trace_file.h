/* Where traces go: see trace_file.c. */
#ifndef FT_RECORD_TRACE_FILE_H
#define FT_RECORD_TRACE_FILE_H

#include "record/run.h"

/* Opens the next file of a process's trace, which replaces nothing that this run has written; trace->path is its name,
 * trace->has_file whether it is a regular file that can be opened by it. A descriptor, or -errno. */
int trace_file_open(struct trace *trace);
void trace_files_free(struct trace_files *files);

#endif
