/* Descriptors, pidfds, and the messages between functrace's processes: see fds.h. */
#include "config.h"
#include "engine/fds.h"
#include "base/fd_message.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Never blocks, because a stopped visible process must not block the tracer. */
int message_send(int socket, enum message_type type, uint32_t space, int fd)
{
	const struct message message = {.type = type, .space = space};

	return fd_message_send(socket, &message, sizeof(message), fd);
}

int message_receive(int socket, struct message *message, int *fd)
{
	return fd_message_receive(socket, message, sizeof(*message), fd);
}

static bool is_kept_fd(int fd, const int *keep, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (keep[i] == fd)
			return true;
	return false;
}

/* Replaces `fd` by a copy of `null`, a descriptor of /dev/null. Closes `fd` instead if `null` is -1 because /dev/null
 * could not be opened. */
static void fds_replace(int fd, int null)
{
	if (null < 0 || dup3(null, fd, O_CLOEXEC) < 0)
		close(fd);
}

void fds_null_others(const int *keep, size_t count)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	DIR *const folder = opendir("/proc/self/fd");
	struct dirent *entry;

	/* If /proc has just been unmounted, tries all numbers. */
	for (int fd = STDERR_FILENO + 1; !folder && fd < sysconf(_SC_OPEN_MAX); fd++)
		if (fd != null && !is_kept_fd(fd, keep, count) && fcntl(fd, F_GETFD) >= 0)
			fds_replace(fd, null);
	while (folder && (entry = readdir(folder))) {
		const int fd = atoi(entry->d_name); /* 0 for "." and "..", which is skipped */

		if (fd > STDERR_FILENO && fd != dirfd(folder) && fd != null && !is_kept_fd(fd, keep, count))
			fds_replace(fd, null);
	}
	if (folder)
		closedir(folder);
	if (null >= 0)
		close(null);
}

void fds_null(int fd)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0 && null != fd) {
		dup2(null, fd);
		close(null);
	}
}

void fd_fill(int fd)
{
	if (fcntl(fd, F_GETFD) < 0)
		fds_null(fd);
}

int fd_above_standard(int fd)
{
	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	const int error = errno;

	close(fd);
	errno = error;
	return moved;
}

int process_handle(pid_t pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0);
#else
	(void)pid;
	return -1;
#endif
}

int process_signal(int handle, pid_t pid, int sig)
{
#ifdef SYS_pidfd_send_signal
	if (handle >= 0)
		return (int)syscall(SYS_pidfd_send_signal, handle, sig, NULL, 0);
#endif
	return kill(pid, sig);
}
