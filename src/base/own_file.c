/* Opens files for writing without following the links of other users: see own_file.h. */
#include "config.h"
#include "base/own_file.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Returns true for the errors of opening a fifo without a reader (ENXIO), a link (ELOOP), a directory or a socket. */
static bool own_file_is_taken(int error)
{
	return error == ELOOP || error == ENXIO || error == EISDIR || error == EMLINK;
}

static int open_ours(const char *path, int flags)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags, 0600);
	struct stat st;

	if (fd < 0)
		return own_file_is_taken(errno) ? -EEXIST : -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1) {
		close(fd);
		return -EEXIST;
	}
	return fd;
}

int own_file_open(const char *path)
{
	const int fd = open_ours(path, 0);

	if (fd < 0)
		return fd;
	/* An existing file may be readable by other users, so its mode is changed. */
	const mode_t mask = umask(0);

	umask(mask);
	if (!fchmod(fd, 0600 & ~mask) && !ftruncate(fd, 0))
		return fd;
	const int error = -errno;

	close(fd);
	return error;
}

int own_file_open_to_append(const char *path)
{
	return open_ours(path, O_APPEND);
}

#define LINKS_MAX 40 /* maximum number of links that are followed, the same as the kernel's */

/* Opens the directory of a path that is relative to `folder`; *name gets the last component. */
static int open_folder(int folder, const char *path, const char **name)
{
	const char *const slash = strrchr(path, '/');
	char *const parent = slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup(".");
	const int fd = openat(folder, parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const int error = -errno;

	free(parent);
	*name = slash ? slash + 1 : path;
	return fd < 0 ? error : fd;
}

/* Reads a link's target, which the caller frees. Returns 0 or -errno. -EEXIST: the link is in /proc, where a link may
 * lead to a file without a path. -EAGAIN: the file is no link any more. */
static int read_link(int folder, const char *name, char **to)
{
	const int fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	struct statfs fs;
	char text[PATH_MAX];
	int error = 0;
	ssize_t size = 0;

	if (fd < 0 || fstat(fd, &st) || fstatfs(fd, &fs))
		error = -errno;
	else if (!S_ISLNK(st.st_mode))
		error = -EAGAIN;
	else if (st.st_uid != geteuid() && st.st_uid)
		error = -ELOOP;
	else if (fs.f_type == PROC_SUPER_MAGIC)
		error = -EEXIST;
	else if ((size = readlinkat(fd, "", text, sizeof(text))) < 0)
		error = -errno;
	if (fd >= 0)
		close(fd);
	if (!error)
		*to = xstrndup(text, (size_t)size);
	return error;
}

/* Follows one link. If it is in /proc, opens its target and returns the descriptor. Otherwise replaces *folder and
 * *path by those of the link's target and returns -EAGAIN: the caller has to open the target. Returns another -errno on
 * an error. */
static int own_file_follow(int *folder, char **path, int flags)
{
	const char *name;
	char *to = NULL;
	const int parent = open_folder(*folder, *path, &name);

	if (parent < 0)
		return parent;
	int result = read_link(parent, name, &to);

	if (result == -EEXIST) {
		result = openat(parent, name, flags, 0600);
		result = result < 0 ? -errno : result;
	} else if (!result || result == -EAGAIN) {
		to = to ? to : xstrdup(name);
		result = -EAGAIN;
	}
	if (*folder >= 0)
		close(*folder);
	free(*path);
	*folder = parent;
	*path = to;
	return result;
}

void own_file_list_path(const char *list, const char *path)
{
	const int fd = own_file_open_to_append(list);

	if (fd < 0)
		return;
	write_all(fd, path, strlen(path) + 1, NULL);
	close(fd);
}

/* Reads each link through the descriptor with which its owner was checked, so that another user (B) cannot exchange the
 * link:
 *
 *	A: checks that the link is this user's | B: puts a link of its own there | A: open() */
int own_file_open_given(const char *path, int flags)
{
	const int all = flags | O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY;
	char *at = xstrdup(path);
	int folder = AT_FDCWD, fd = -EAGAIN;

	for (unsigned links = 0; fd == -EAGAIN && links <= LINKS_MAX; links++) {
		fd = openat(folder, at, all | O_NOFOLLOW, 0600);
		if (fd < 0)
			fd = errno == ELOOP ? own_file_follow(&folder, &at, all) : -errno;
	}
	if (folder >= 0)
		close(folder);
	free(at);
	return fd == -EAGAIN ? -ELOOP : fd;
}
