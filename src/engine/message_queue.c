/* Writes the messages of all processes of functrace, in a thread of the visible process: see message_queue.h. */
#include "config.h"
#include "engine/message_queue.h"
#include "engine/fds.h"
#include "base/msg.h"
#include "base/util.h"
#include "base/time_units.h"
#include "base/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define PIPE_SIZE (1 << 20) /* the maximum that the kernel allows users other than root */
#define STUCK_NS  NS_PER_SECOND
#define WRITE_MAX 4096 /* bytes per write: so few that a write of more than STUCK_NS shows a stuck standard error */

int message_queue_open(struct message_queue *messages, _Atomic uint64_t *lost)
{
	int ends[2];

	*messages = (struct message_queue){.lost = lost, .wake = -1, .done = -1};
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	messages->out = fd_above_standard(ends[0]);
	messages->in = fd_above_standard(ends[1]);
	messages->to = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (messages->to < 0) /* standard error was closed */
		messages->to = fd_above_standard(open("/dev/null", O_WRONLY | O_CLOEXEC));
	if (messages->out < 0 || messages->in < 0 || messages->to < 0)
		return -errno;
	fcntl(messages->in, F_SETPIPE_SZ, PIPE_SIZE); /* on failure the pipe keeps its default size */
	return 0;
}

void message_queue_enter(const struct message_queue *messages)
{
	const int terminal = isatty(messages->to) ? messages->to : -1;

	dup2(messages->in, STDERR_FILENO);
	msg_set_queue(terminal, messages->lost);
}

/* ---- The thread ---- */

/* Writes bytes to the original standard error. Polls after EAGAIN, because a process that shares the terminal may have
 * made it non-blocking. */
static void message_queue_show(struct message_queue *messages, const char *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		const size_t left = size - done;

		atomic_store(&messages->waits_at, clock_ns(CLOCK_MONOTONIC));
		const ssize_t more = write(messages->to, bytes + done, left < WRITE_MAX ? left : WRITE_MAX);

		if (more > 0)
			done += (size_t)more;
		else if (errno == EAGAIN)
			poll(&(struct pollfd){.fd = messages->to, .events = POLLOUT}, 1, -1);
		else if (errno != EINTR)
			break; /* standard error is closed, or its disk is full: this cannot be reported anywhere */
	}
	atomic_store(&messages->waits_at, 0);
}

static void show_lost_messages(struct message_queue *messages)
{
	const uint64_t lost = atomic_exchange(messages->lost, 0);
	char text[160];

	if (!lost)
		return;
	const int size = snprintf(text, sizeof(text),
				  "functrace: warning: messages that were dropped, because standard error was not read "
				  "in time: %" PRIu64 "\n",
				  lost);
	message_queue_show(messages, text, (size_t)size);
}

static void *message_queue_work(void *context)
{
	static char bytes[1 << 16];
	struct message_queue *const messages = context;

	for (;;) {
		struct pollfd fds[] = {{.fd = messages->out, .events = POLLIN},
				       {.fd = messages->wake, .events = POLLIN}};
		const bool is_over = atomic_load(&messages->is_over);
		const ssize_t got = read(messages->out, bytes, sizeof(bytes));

		if (got > 0) {
			message_queue_show(messages, bytes, (size_t)got);
			continue;
		}
		show_lost_messages(messages);
		if (is_over)
			break;
		poll(fds, ARRAY_SIZE(fds), -1);
	}
	eventfd_write(messages->done, 1);
	return NULL;
}

int message_queue_start(struct message_queue *messages)
{
	messages->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	messages->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (messages->wake < 0 || messages->done < 0)
		return -errno;
	/* All signals are blocked in the thread, because the main thread handles the signals of the visible process,
	 * and the SIGTTOU that a background write to a terminal raises would stop the target as well. */
	const int error = thread_start_masked(&messages->thread, NULL, message_queue_work, messages);

	if (!error)
		message_queue_enter(messages);
	errno = error;
	return -error;
}

void message_queue_end(struct message_queue *messages)
{
	atomic_store(&messages->is_over, true);
	eventfd_write(messages->wake, 1);
}

bool message_queue_is_stuck(const struct message_queue *messages, uint64_t since)
{
	const uint64_t waits_at = atomic_load(&messages->waits_at), now = clock_ns(CLOCK_MONOTONIC);
	struct pollfd room = {.fd = messages->to, .events = POLLOUT};

	/* If there is room, the thread waits for a CPU, not for the terminal. */
	return waits_at && now - waits_at > STUCK_NS && now - since > STUCK_NS && poll(&room, 1, 0) == 0;
}

void message_queue_close(struct message_queue *messages, bool has_ended)
{
	dup2(messages->to, STDERR_FILENO);
	msg_set_direct();
	if (has_ended)
		pthread_join(messages->thread, NULL);
}
