/* Writing to what a trace goes to.  Private to trace/. */
#ifndef FT_TRACE_FD_WRITE_H
#define FT_TRACE_FD_WRITE_H

#include <stddef.h>

/* As write_all(), but waits where a descriptor does not block: until there is room or, once the descriptor *let_go
 * (NULL: none) is readable, half a second without any, which is -ETIME. Up to PIPE_BUF bytes go into a pipe whole or
 * not at all. */
int fd_write(int fd, const unsigned char *data, size_t size, size_t *done, const int *let_go);
/* Takes back the last `size` bytes that were written, where that can be done: of a regular file that ends where we
 * wrote. Others may append to it too. */
void fd_take_back(int fd, size_t size);

#endif
