/* Descriptors, the messages that V, G and E send each other, and handles of processes. */
#ifndef FT_ENGINE_FDS_H
#define FT_ENGINE_FDS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum message_type {
	MESSAGE_LET_GO = 1,
	MESSAGE_TOGGLE,
	MESSAGE_SCAN,
	MESSAGE_POKE,
	MESSAGE_ADD_SPACE,
	MESSAGE_REMOVE_SPACE,
	MESSAGE_TRACER, /* `space` is the tid of the tracer thread; G pokes when it has seen to it */
};

struct message {
	uint32_t type, space;
};

/* Sends it, with a copy of `fd` unless that is -1; `fd` stays the caller's. Never blocks: 0 or -errno (-EAGAIN: the
 * other side is stopped and the socket full). */
int message_send(int socket, enum message_type type, uint32_t space, int fd);
/* 1: *message and *fd (-1 if none came), 0: the other side is gone, -EAGAIN: nothing there now. */
int message_receive(int socket, struct message *message, int *fd);

/* Makes every descriptor from 3 on that is not in keep /dev/null: what functrace inherited belongs to the target, and
 * a pipe that functrace held open would not end for its reader. The numbers stay taken, for a library that somebody
 * has preloaded may have a descriptor of its own, and closes it some day:
 *
 *	libtcmalloc: pipe: 3, 4 | E: closes 3 | E: eventfd: 3 | libtcmalloc: close(3) */
void fds_null_others(const int *keep, size_t count);
/* Makes descriptor `fd` /dev/null. */
void fds_null(int fd);
/* Makes it /dev/null if it is closed, lest something else become it. */
void fd_fill(int fd);
/* functrace may have been started with 0, 1 or 2 closed, and its target is to find them so: what
 * functrace opens before it has forked the target is moved above them. The new descriptor,
 * close-on-exec, or -1 and errno (`fd` is closed anyway). */
int fd_above_standard(int fd);

/* A pidfd, or -1. */
int process_handle(pid_t pid);
/* kill() by a handle where there is one. */
int process_signal(int handle, pid_t pid, int sig);

#endif
