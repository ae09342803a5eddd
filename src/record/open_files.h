/* Lists the files that an attached process has open. */
#ifndef FT_RECORD_OPEN_FILES_H
#define FT_RECORD_OPEN_FILES_H

#include "trace/event.h"

#include <sys/types.h>

/* Returns the open descriptors of the process that have a path, in ascending order, to be freed by open_files_free().
 * Sets *count to their number, 0 if they cannot be read. */
struct open_file *open_files_of(pid_t pid, uint32_t *count);
void open_files_free(struct open_file *files, uint32_t count);

#endif
