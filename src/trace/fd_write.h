/* Writes to the descriptor of a trace. Private to trace/. */
#ifndef FT_TRACE_FD_WRITE_H
#define FT_TRACE_FD_WRITE_H

#include <stddef.h>

/* Writes as write_all() does, but waits for room if the descriptor does not block. Once the descriptor *let_go is
 * readable (let_go may be NULL), returns -ETIME after half a second without room. Up to PIPE_BUF bytes go into a pipe
 * whole or not at all. */
int fd_write(int fd, const unsigned char *data, size_t size, size_t *done, const int *let_go);
/* Removes the last `size` written bytes, if fd is a regular file that ends where they end. Otherwise does nothing,
 * because another program may have appended to the file. */
void fd_take_back(int fd, size_t size);

#endif
