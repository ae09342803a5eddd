/* Writes to the descriptor of a trace. Private to trace/. */
#ifndef FT_TRACE_FD_WRITE_H
#define FT_TRACE_FD_WRITE_H

#include <stddef.h>

/* Writes as write_all() does, but if fd is nonblocking and full, waits until it has room. let_go: pointer to a
 * descriptor, or NULL. Once *let_go is readable, returns -ETIME if fd has no room for half a second. Up to PIPE_BUF
 * bytes are written to a pipe as a whole or not at all. */
int fd_write(int fd, const unsigned char *data, size_t size, size_t *done, const int *let_go);
/* Removes the last `size` written bytes from a regular file. Does nothing if the file is longer than the position of
 * fd, because another program may have appended to it. */
void fd_take_back(int fd, size_t size);

#endif
