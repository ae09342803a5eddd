#include "config.h"
#include "symbols/elf/private_copy.h"
#include "base/timed.h"
#include "base/util.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct copying {
	char *path; /* path of the file; NULL: `fd` is the file */
	int fd;
	unsigned parts;
	struct private_copy copy;
};

static void copying_free(void *context)
{
	struct copying *const copying = context;

	private_copy_end(&copying->copy);
	if (copying->fd >= 0)
		close(copying->fd);
	free(copying->path);
	free(copying);
}

static void make_copy(void *context)
{
	struct copying *const copying = context;
	const char *reason;
	struct stat st;

	if (copying->path)
		copying->fd = open_regular(copying->path, &st);
	if (copying->fd >= 0 && !fstat(copying->fd, &st))
		private_copy_make(copying->fd, &st, copying->parts, &copying->copy, &reason);
}

int private_copy_in_time(const char *path, int fd, unsigned parts)
{
	struct copying *const copying = xcalloc(1, sizeof(*copying));

	*copying = (struct copying){.path = xstrdup_or_null(path),
				    .fd = path ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0),
				    .parts = parts,
				    .copy = {.fd = -1}};
	if (!timed_do(make_copy, copying_free, copying))
		return -1;
	const int copy = copying->copy.fd;

	copying->copy.fd = -1;
	copying_free(copying);
	return copy;
}
