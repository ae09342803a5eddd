/* Functions that the targets of the kinds of resource share (resources.py).
 *
 * Such a target prints which calls its trace must have, a line each, in this order, with the ids of this run:
 *
 *     recorded("pthread_create<pthread_t>(1) = %#lx", id)
 *
 * followed by an argument that is shown (" cmd=IPC_STAT"); "#word" matches any number the first time, and the same
 * number after that. Several names of one function are separated by |; the first is the name by which it is called.
 * left() prints which resources are live at the end, and the line of the source that created them; other live resources
 * are errors. The lines are written to the file of KIND_LOG, by system calls that no module traces; without KIND_LOG
 * there are none. */
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
		/* a descriptor above the tested ones */
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

/* Prints that at the end `count` resources of the kind are live, with `units` units in total, and that the line `line`
 * of the program's source has created them; 0: any line. */
__attribute__((unused)) static void left(const char *kind, int count, size_t units, int line)
{
	recorded("left %s %d %zu %d", kind, count, units, line);
}

#endif
