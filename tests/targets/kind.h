/* What the targets of the kinds of resource share (resources.py).
 *
 * Such a target says line by line, in the order in which they must come, which calls its trace has, with the ids that
 * this very run has seen:
 *
 *     recorded("pthread_create<pthread_t>(1) = %#lx", id)
 *
 * with an argument that is shown (" cmd=IPC_STAT") behind it; "#word" is a number that is not known, but always the
 * same. Where one function has several names, they stand there with a | between them, first that by which it is called.
 * left() says which are live at the end, and which line of the source has made them; what is live besides is an error.
 * The file that KIND_LOG names gets the lines, by system calls that no module knows; without it there are none. */
#ifndef KIND_H
#define KIND_H

#include "target.h"
#include <sys/syscall.h>

#define KIND_FD 900

__attribute__((format(printf, 1, 2), unused)) static void recorded(const char *fmt, ...)
{
	static int fd = -2;
	char line[512];
	va_list args;

	if (fd == -2) {
		const char *path = getenv("KIND_LOG");

		fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)
			  : -1;
		/* Above the tested descriptors. */
		if (fd >= 0 && syscall(SYS_dup3, fd, KIND_FD, O_CLOEXEC) == KIND_FD) {
			syscall(SYS_close, fd);
			fd = KIND_FD;
		}
	}
	if (fd < 0)
		return;
	va_start(args, fmt);
	const int length = vsnprintf(line, sizeof(line) - 1, fmt, args);
	va_end(args);
	line[length] = '\n';
	if (syscall(SYS_write, fd, line, (size_t)length + 1) < 0)
		_exit(92);
}

/* That many resources of the kind are live at the end, with that many units together, created by that function at the
 * line `line` of the program's source; 0: any line. */
__attribute__((unused)) static void left(const char *kind, int count, size_t units, int line)
{
	recorded("left %s %d %zu %d", kind, count, units, line);
}

#endif
