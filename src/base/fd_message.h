/* Messages between processes over a socket that keeps message boundaries. Each message may carry a descriptor. */
#ifndef FT_BASE_FD_MESSAGE_H
#define FT_BASE_FD_MESSAGE_H

#include <stddef.h>

/* Sends `size` bytes, and a copy of `fd` unless `fd` is -1. The caller keeps `fd`. Never blocks. Returns 0 or -errno;
 * -EAGAIN: the socket is full, because the receiver does not read. */
int fd_message_send(int socket, const void *bytes, size_t size, int fd);
/* Receives a message. Returns 1 and sets *bytes, and *fd (-1 if the message carries no descriptor). If the message is
 * shorter than `size`, *bytes is all zeros. Returns 0 if the other process has ended or closed the socket, or on an
 * error; -EAGAIN if no message is present. */
int fd_message_receive(int socket, void *bytes, size_t size, int *fd);

#endif
