#include "config.h"
#include "modules/conf/conf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads a regular file into `text`. Stops when it has read more than CONF_SIZE_MAX bytes. Returns 0 or an errno. */
static int conf_read_all(int fd, struct buf *text)
{
	for (;;) {
		const ssize_t got = read(fd, buf_room(text, 4096), 4096);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno;
		text->size += (size_t)got;
		if (!got || text->size > CONF_SIZE_MAX)
			return 0;
	}
}

static struct conf *conf_read_fail(const char *path, struct buf *said, const char *why)
{
	buf_printf(said, "%s: %s", path, why);
	return NULL;
}

struct conf *conf_read(const char *path, struct buf *said)
{
	/* Without O_NONBLOCK, opening a fifo would wait for a writer. */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct buf text = {0};
	struct conf *conf = NULL;
	struct stat st;

	if (fd < 0)
		return conf_read_fail(path, said, strerror(errno));
	if (fstat(fd, &st) < 0) {
		conf_read_fail(path, said, strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		conf_read_fail(path, said,
			       S_ISDIR(st.st_mode) ? "is a folder; give a file"
						   : "is no regular file; write it into one");
	} else {
		const int error = conf_read_all(fd, &text);

		if (error)
			conf_read_fail(path, said, strerror(error));
		else if (text.size > CONF_SIZE_MAX)
			conf_read_fail(path, said, "is longer than 1 MiB, which no description needs");
		else
			conf = conf_parse(path, (const char *)text.data, text.size, said);
	}
	close(fd);
	buf_free(&text);
	return conf;
}
