/* Descriptors, pidfds, and the messages that the visible process (V), guardian (G) and engine (E) send each other. */
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
	MESSAGE_TRACER, /* `space` is the tid of the tracer thread; G pokes when it holds the thread, or cannot */
};

struct message {
	uint32_t type, space;
};

/* Sends a message with a copy of `fd`, unless that is -1; `fd` stays the caller's. Never blocks. Returns 0 or -errno
 * (-EAGAIN: the other side is stopped and the socket is full). */
int message_send(int socket, enum message_type type, uint32_t space, int fd);
/* Returns 1 and sets *message and *fd (-1 if none came); 0: the other side has ended; -EAGAIN: no message now. */
int message_receive(int socket, struct message *message, int *fd);

/* Turns every descriptor from 3 on that is not in keep into /dev/null. Inherited descriptors belong to the target: a
 * pipe that functrace held open would not end for its reader. The numbers stay taken, because a preloaded library may
 * have a descriptor of its own and close it later:
 *
 *   libtcmalloc: pipe: 3, 4 | E: closes 3 | E: eventfd: 3 | libtcmalloc: close(3) */
void fds_null_others(const int *keep, size_t count);
/* Turns descriptor `fd` into /dev/null. */
void fds_null(int fd);
/* Turns `fd` into /dev/null if it is closed, so that no other file gets that number. */
void fd_fill(int fd);
/* Moves `fd` above 2. functrace may have been started with 0, 1 or 2 closed, and its target has to find them closed;
 * therefore descriptors that functrace opens before it forks the target are moved. Returns the new descriptor,
 * close-on-exec, or -1 and errno (`fd` is closed in either case). */
int fd_above_standard(int fd);

/* A pidfd of pid, which the caller closes, or -1. */
int process_handle(pid_t pid);
/* Sends sig as kill() does, by the pidfd `handle` if it is not -1. */
int process_signal(int handle, pid_t pid, int sig);

#endif
