#include "config.h"
#include "base/util.h"

#include <fcntl.h>
#include <unistd.h>

void standard_fds_reserve(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    openat(AT_FDCWD, "/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) != fd)
			return;
}
