#include "config.h"
#include "trace/fd_write.h"
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#define READER_MS 500

/* Waits until a write to fd returns at once, with success or an error. Returns 0 or a negative errno; -ETIME if fd
 * still has no room READER_MS milliseconds after *let_go has become readable. */
static int wait_for_room(int fd, const int *let_go)
{
	struct pollfd fds[] = {{.fd = fd, .events = POLLOUT}, {.fd = let_go ? *let_go : -1, .events = POLLIN}};
	nfds_t count = ARRAY_SIZE(fds);
	int patience = -1, found;

	do {
		found = poll(fds, count, patience);
		if (found > 0 && fds[0].revents)
			return 0;
		if (found > 0) { /* *let_go is readable, and need not be polled any more */
			count = 1;
			patience = READER_MS;
		}
	} while (found > 0 || (found < 0 && errno == EINTR));
	return found ? -errno : -ETIME;
}

/* Returns true if a large write may block. Then fd_write() polls, and writes at most PIPE_BUF bytes at once, which does
 * not block in a pipe with room. It cannot make fd nonblocking, because other processes may share the file
 * description. */
static bool may_block(int fd)
{
	const int flags = fcntl(fd, F_GETFL);
	struct stat st;

	return flags >= 0 && !(flags & O_NONBLOCK) && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode);
}

int fd_write(int fd, const unsigned char *data, size_t size, size_t *done, const int *let_go)
{
	const bool blocks = let_go && may_block(fd);
	int error = 0;

	*done = 0;
	while (*done < size) {
		const size_t left = size - *done;
		size_t more;

		if (blocks || error == -EAGAIN)
			error = wait_for_room(fd, let_go);
		else
			error = 0;
		if (error)
			break;
		error = write_all(fd, data + *done, blocks && left > PIPE_BUF ? PIPE_BUF : left, &more);
		*done += more;
		if (error && error != -EAGAIN)
			break;
	}
	return error;
}

void fd_take_back(int fd, size_t size)
{
	struct stat st;

	if (!size || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	const off_t position = lseek(fd, 0, SEEK_CUR);

	if (position != st.st_size || position < (off_t)size)
		return;
	const off_t end = position - (off_t)size;

	if (ftruncate(fd, end) == 0)
		lseek(fd, end, SEEK_SET);
}
