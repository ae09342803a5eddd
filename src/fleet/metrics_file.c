/* Replaces a file of metrics: see metrics_file.h. */
#include "config.h"
#include "fleet/metrics_file.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Returns the name of a temporary file beside the path, hidden, and with another ending: node_exporter must not read
 * it. */
static char *metrics_file_beside(const char *path)
{
	const char *const name = path_name(path);

	return xasprintf("%.*s.%s.XXXXXX", (int)(name - path), path, name);
}

static int metrics_file_fill(struct metrics_file *file, int fd, const void *data, size_t size)
{
	int error = write_all(fd, data, size, NULL);

	/* node_exporter runs as another user. */
	if (!error && (fchmod(fd, 0644) || fstat(fd, &file->last)))
		error = -errno;
	if (close(fd) && !error)
		error = -errno;
	return error;
}

int metrics_file_write(struct metrics_file *file, const void *data, size_t size)
{
	struct metrics_file written = *file;
	struct stat st;

	if (!lstat(file->path, &st) && !S_ISREG(st.st_mode))
		return -EEXIST;
	char *const beside = metrics_file_beside(file->path);
	const int fd = mkostemp(beside, O_CLOEXEC);
	int error = fd < 0 ? -errno : metrics_file_fill(&written, fd, data, size);

	if (!error && rename(beside, file->path))
		error = -errno;
	if (error && fd >= 0)
		unlink(beside);
	free(beside);
	if (!error) {
		*file = written;
		file->is_written = true;
	}
	return error;
}

static bool metrics_file_is_own(const struct metrics_file *file)
{
	struct stat st;

	/* A later file may have got the number of the inode. */
	return file->is_written && !lstat(file->path, &st) && st.st_dev == file->last.st_dev &&
	       st.st_ino == file->last.st_ino && st.st_mtim.tv_sec == file->last.st_mtim.tv_sec &&
	       st.st_mtim.tv_nsec == file->last.st_mtim.tv_nsec;
}

bool metrics_file_is_taken(const struct metrics_file *file)
{
	struct stat st;

	return file->is_written && !lstat(file->path, &st) && !metrics_file_is_own(file);
}

void metrics_file_remove(const struct metrics_file *file)
{
	if (metrics_file_is_own(file))
		unlink(file->path);
}
