/* Writes and reads whole buffers: see util.h. */
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

bool write_all_at(int fd, const void *data, size_t size, uint64_t offset)
{
	const char *const bytes = data;

	for (size_t done = 0; done < size;) {
		const ssize_t n = pwrite(fd, bytes + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

int read_all_at(int fd, void *data, size_t size, uint64_t offset)
{
	char *const bytes = data;

	for (size_t done = 0; done < size;) {
		const ssize_t n = pread(fd, bytes + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}
