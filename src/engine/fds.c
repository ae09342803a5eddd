#include "config.h"
#include "engine/board.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int message_send(int socket, enum message_type type, uint32_t space, int fd)
{
	struct message message = {.type = type, .space = space};
	struct iovec part = {.iov_base = &message, .iov_len = sizeof(message)};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

	if (fd >= 0) {
		header.msg_control = control.bytes;
		header.msg_controllen = sizeof(control.bytes);
		struct cmsghdr *const item = CMSG_FIRSTHDR(&header);

		item->cmsg_level = SOL_SOCKET;
		item->cmsg_type = SCM_RIGHTS;
		item->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(item), &fd, sizeof(int));
	}
	/* Never blocks: a stopped V must not hold up the tracer. */
	return sendmsg(socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int message_receive(int socket, struct message *message, int *fd)
{
	struct iovec part = {.iov_base = message, .iov_len = sizeof(*message)};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr header;
	ssize_t got;

	*fd = -1;
	for (;;) {
		header = (struct msghdr){.msg_iov = &part,
					 .msg_iovlen = 1,
					 .msg_control = control.bytes,
					 .msg_controllen = sizeof(control.bytes)};
		got = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (got >= 0 || errno != EINTR)
			break;
	}
	if (got < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK ? -EAGAIN : 0;
	if (got == 0)
		return 0;
	const struct cmsghdr *const item = CMSG_FIRSTHDR(&header);

	if (item && item->cmsg_level == SOL_SOCKET && item->cmsg_type == SCM_RIGHTS &&
	    item->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(item), sizeof(int));
	if ((size_t)got < sizeof(*message))
		message->type = 0;
	return 1;
}

static bool kept(int fd, const int *keep, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (keep[i] == fd)
			return true;
	return false;
}

/* null: -1: /dev/null cannot be opened here. */
static void replace(int fd, int null)
{
	if (null < 0 || dup3(null, fd, O_CLOEXEC) < 0)
		close(fd);
}

void fds_null_others(const int *keep, size_t count)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	DIR *const folder = opendir("/proc/self/fd");
	struct dirent *entry;

	/* /proc has just been taken away. */
	for (int fd = STDERR_FILENO + 1; !folder && fd < sysconf(_SC_OPEN_MAX); fd++)
		if (fd != null && !kept(fd, keep, count) && fcntl(fd, F_GETFD) >= 0)
			replace(fd, null);
	while (folder && (entry = readdir(folder))) {
		const int fd = atoi(entry->d_name); /* "." and "..": 0, not closed */

		if (fd > STDERR_FILENO && fd != dirfd(folder) && fd != null && !kept(fd, keep, count))
			replace(fd, null);
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

void fds_raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
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
