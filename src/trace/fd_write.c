#include "config.h"
#include "trace/fd_write.h"
#include "base/util.h"

#include <errno.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

int fd_write(int fd, const unsigned char *data, size_t size, size_t *done)
{
	int error;

	*done = 0;
	for (;;) {
		size_t more;

		error = write_all(fd, data + *done, size - *done, &more);
		*done += more;
		if (error != -EAGAIN)
			return error;
		struct pollfd ready = {.fd = fd, .events = POLLOUT};

		if (poll(&ready, 1, -1) < 0 && errno != EINTR)
			return -errno;
	}
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
