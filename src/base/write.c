#include "config.h"
#include "base/util.h"

#include <errno.h>
#include <unistd.h>

int write_all(int fd, const void *data, size_t size, size_t *done)
{
	const char *bytes = data;
	size_t out = 0;
	int error = 0;

	while (out < size) {
		const ssize_t n = write(fd, bytes + out, size - out);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			error = n < 0 ? -errno : -EIO;
			break;
		}
		out += (size_t)n;
	}
	if (done)
		*done = out;
	return error;
}
