/* Descriptors, pidfds, and the messages between the visible process (V), the guardian (G) and the engine (E). */
#ifndef FT_ENGINE_FDS_H
#define FT_ENGINE_FDS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum message_type {
	MESSAGE_LET_GO = 1,
	MESSAGE_TOGGLE,
	MESSAGE_SCAN,
	MESSAGE_NOTIFY,
	MESSAGE_ADD_SPACE,
	MESSAGE_REMOVE_SPACE,
	/* `space` is the tid of the tracer thread. When the guardian traces the thread, or has failed to do so, it
	 * replies with MESSAGE_NOTIFY. */
	MESSAGE_TRACER,
};

struct message {
	uint32_t type, space;
};

/* Sends a message, together with a copy of `fd` if `fd` is not -1. The caller keeps `fd`. Never blocks. Returns 0 or
 * -errno (-EAGAIN: the receiver is stopped and the socket is full). */
int message_send(int socket, enum message_type type, uint32_t space, int fd);
/* Receives a message. Returns 1 and sets *message and *fd (-1 if no descriptor came); 0: the other process has ended;
 * -EAGAIN: no message is present. */
int message_receive(int socket, struct message *message, int *fd);

/* Redirects every descriptor from 3 on that is not in `keep` to /dev/null. Inherited descriptors belong to the target:
 * a pipe that functrace held open would not end for its reader. The numbers stay in use. Otherwise a preloaded library
 * that closes its own descriptor later could close one of functrace's:
 *
 *   libtcmalloc: pipe: 3, 4 | E: closes 3 | E: eventfd: 3 | libtcmalloc: close(3) */
void fds_null_others(const int *keep, size_t count);
/* Redirects descriptor `fd` to /dev/null. */
void fds_null(int fd);
/* Opens /dev/null as `fd` if `fd` is closed, so that no other file gets that number. */
void fd_fill(int fd);
/* Moves `fd` to a number above 2. functrace may have been started with 0, 1 or 2 closed, and its target has to find
 * them closed; therefore descriptors that functrace opens before it forks the target are moved. Returns the new
 * descriptor, close-on-exec, or -1 and errno (`fd` is closed in either case). */
int fd_above_standard(int fd);

/* Returns a pidfd of pid, which the caller closes; -1 on error. */
int process_handle(pid_t pid);
/* Sends `sig` as kill() does. Uses the pidfd `handle` unless `handle` is -1. */
int process_signal(int handle, pid_t pid, int sig);

#endif
