#include "config.h"
#include "modules/conf/conf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct conf *conf_read_fail(const char *path, struct buf *said, const char *why)
{
	buf_printf(said, "%s: %s", path, why);
	return NULL;
}

struct conf *conf_read(const char *path, struct buf *said)
{
	/* Without O_NONBLOCK, opening a fifo would wait for a writer. */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	size_t size;

	if (fd >= 0 && !fstat(fd, &st) && !S_ISREG(st.st_mode)) {
		close(fd);
		return conf_read_fail(path, said,
				      S_ISDIR(st.st_mode) ? "is a folder; give a file"
							  : "is no regular file; write it into one");
	}
	char *const text = read_open_file(fd, CONF_SIZE_MAX, &size);

	if (!text)
		return conf_read_fail(path, said,
				      errno == EFBIG ? "is longer than 1 MiB, which no description needs"
						     : strerror(errno));
	struct conf *const conf = conf_parse(path, text, size, said);

	free(text);
	return conf;
}
