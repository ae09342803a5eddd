/* Sends rows to the live view: see view_rows_pipe.h. */
#include "config.h"
#include "fleet/view_rows_pipe.h"
#include "base/util.h"
#include "fleet/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define WAIT_MS  100 /* longest wait for a view that reads slowly, in ms; it may also be stopped (Ctrl-Z) */
#define WAITS    10
#define PIPE_MAX (1 << 20)

struct rows_pipe {
	int fd; /* -1: the view has ended */
	struct buf waiting;
	size_t sent; /* bytes of `waiting` that were sent */
};

struct rows_pipe *rows_pipe_new(int fd)
{
	struct rows_pipe *const pipe = xcalloc(1, sizeof(*pipe));

	pipe->fd = fd;
	fcntl(fd, F_SETFL, O_NONBLOCK);
	fcntl(fd, F_SETPIPE_SZ, PIPE_MAX); /* without it, a stopped view misses more intervals */
	return pipe;
}

/* Returns true if all bytes were sent, or if the view has ended. */
static bool send_waiting(struct rows_pipe *pipe)
{
	for (unsigned waits = 0; pipe->fd >= 0 && pipe->sent < pipe->waiting.size;) {
		struct pollfd room = {.fd = pipe->fd, .events = POLLOUT};
		const ssize_t sent = write(pipe->fd, pipe->waiting.data + pipe->sent, pipe->waiting.size - pipe->sent);

		if (sent >= 0) {
			pipe->sent += (size_t)sent;
		} else if (errno == EAGAIN) {
			if (waits++ == WAITS)
				return false;
			poll(&room, 1, WAIT_MS);
		} else if (errno != EINTR) {
			pipe->fd = -1;
		}
	}
	pipe->waiting.size = pipe->sent = 0;
	return true;
}

void rows_pipe_send(struct rows_pipe *pipe, const struct watch_interval *interval)
{
	if (!send_waiting(pipe) || pipe->fd < 0)
		return;
	rows_add(&pipe->waiting, interval);
	send_waiting(pipe);
}

void rows_pipe_free(struct rows_pipe *pipe)
{
	if (!pipe)
		return;
	send_waiting(pipe);
	buf_free(&pipe->waiting);
	free(pipe);
}
