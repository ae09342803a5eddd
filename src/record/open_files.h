/* What a process that is attached to has open. */
#ifndef FT_RECORD_OPEN_FILES_H
#define FT_RECORD_OPEN_FILES_H

#include "trace/event.h"

#include <sys/types.h>

/* Its descriptors, in ascending order; *count is 0 where they cannot be read. open_files_free(). */
struct open_file *open_files_of(pid_t pid, uint32_t *count);
void open_files_free(struct open_file *files, uint32_t count);

#endif
