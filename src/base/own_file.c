#include "config.h"
#include "base/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A fifo without a reader (ENXIO), a link (ELOOP), a folder, a socket. */
static bool is_taken(int error)
{
	return error == ELOOP || error == ENXIO || error == EISDIR || error == EMLINK;
}

static int open_ours(const char *path, int flags)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags, 0600);
	struct stat st;

	if (fd < 0)
		return is_taken(errno) ? -EEXIST : -errno;
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
	/* It may be one that others can read. */
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

bool own_file_may_follow(const char *path)
{
	struct stat st;

	return lstat(path, &st) || !S_ISLNK(st.st_mode) || st.st_uid == geteuid() || !st.st_uid;
}
