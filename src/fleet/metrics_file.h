/* A file of metrics that is replaced as a whole, so that its reader never sees a part of it. */
#ifndef FT_FLEET_METRICS_FILE_H
#define FT_FLEET_METRICS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct metrics_file {
	const char *path; /* set by the caller, who keeps it valid */
	struct stat last; /* of the file that was written last */
	bool is_written;
};

/* Writes a new file beside `path`, readable by all users, and renames it to `path`. Replaces only a regular file,
 * because a device or a link would be destroyed. Returns 0 or -errno, and then has left no file; -EEXIST: there is
 * something else of this name. */
int metrics_file_write(struct metrics_file *file, const void *data, size_t size);
/* Returns true if another program has replaced the file since it was written. */
bool metrics_file_is_taken(const struct metrics_file *file);
/* Removes the file that was written last, unless another program has replaced it. */
void metrics_file_remove(const struct metrics_file *file);

#endif
