/* Writing to what a trace goes to.  Private to trace/. */
#ifndef FT_TRACE_FD_WRITE_H
#define FT_TRACE_FD_WRITE_H

#include <stddef.h>

/* As write_all(), but waits where a descriptor does not block: the file description of a terminal or a pipe is shared,
 * and anyone may have set O_NONBLOCK on it. */
int fd_write(int fd, const unsigned char *data, size_t size, size_t *done);
/* Takes back the last `size` bytes that were written, where that can be done: of a regular file that ends where we
 * wrote. Others may append to it too. */
void fd_take_back(int fd, size_t size);

#endif
