/* Messages between processes, each of which may bring a descriptor along; over a socket that keeps messages apart. */
#ifndef FT_BASE_FD_MESSAGE_H
#define FT_BASE_FD_MESSAGE_H

#include <stddef.h>

/* Sends `size` bytes, with a copy of `fd` unless that is -1; `fd` stays the caller's. Never blocks: 0 or -errno
 * (-EAGAIN: the other side is stopped and the socket full). */
int fd_message_send(int socket, const void *bytes, size_t size, int fd);
/* 1: the message, which was of `size` bytes (else *bytes is zeroed), and *fd (-1 if none came), 0: the other side is
 * gone, -EAGAIN: nothing is there now. */
int fd_message_receive(int socket, void *bytes, size_t size, int *fd);

#endif
