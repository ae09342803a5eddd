/* Sends and receives messages with descriptors: see fd_message.h. */
#include "base/fd_message.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

int fd_message_send(int socket, const void *bytes, size_t size, int fd)
{
	struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
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
	return sendmsg(socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int fd_message_receive(int socket, void *bytes, size_t size, int *fd)
{
	struct iovec part = {.iov_base = bytes, .iov_len = size};
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
					 /* not the whole, whose padding would have room for a second descriptor */
					 .msg_controllen = CMSG_LEN(sizeof(int))};
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
	if ((size_t)got < size)
		memset(bytes, 0, size);
	return 1;
}
