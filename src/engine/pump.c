/* Writes the messages of all processes of functrace, in a thread of the visible process: see pump.h. */
#include "config.h"
#include "engine/pump.h"
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
#define WRITE_MAX 4096 /* bytes per write: a write that takes longer than STUCK_NS shows that standard error is stuck */

int pump_open(struct pump *pump, _Atomic uint64_t *lost)
{
	int ends[2];

	*pump = (struct pump){.lost = lost, .wake = -1, .done = -1};
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	pump->out = fd_above_standard(ends[0]);
	pump->in = fd_above_standard(ends[1]);
	pump->to = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (pump->to < 0) /* standard error was closed */
		pump->to = fd_above_standard(open("/dev/null", O_WRONLY | O_CLOEXEC));
	if (pump->out < 0 || pump->in < 0 || pump->to < 0)
		return -errno;
	fcntl(pump->in, F_SETPIPE_SZ, PIPE_SIZE); /* on failure the pipe keeps its default size */
	return 0;
}

void pump_enter(const struct pump *pump)
{
	const int terminal = isatty(pump->to) ? pump->to : -1;

	dup2(pump->in, STDERR_FILENO);
	msg_set_queue(terminal, pump->lost);
}

/* ---- The thread ---- */

/* Writes bytes to the original standard error. Polls after EAGAIN, because a process that shares the terminal may have
 * made it non-blocking. */
static void pump_show(struct pump *pump, const char *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		const size_t left = size - done;

		atomic_store(&pump->waits_at, clock_ns(CLOCK_MONOTONIC));
		const ssize_t more = write(pump->to, bytes + done, left < WRITE_MAX ? left : WRITE_MAX);

		if (more > 0)
			done += (size_t)more;
		else if (errno == EAGAIN)
			poll(&(struct pollfd){.fd = pump->to, .events = POLLOUT}, 1, -1);
		else if (errno != EINTR)
			break; /* standard error is closed, or its disk is full: this cannot be reported anywhere */
	}
	atomic_store(&pump->waits_at, 0);
}

static void show_lost_messages(struct pump *pump)
{
	const uint64_t lost = atomic_exchange(pump->lost, 0);
	char text[160];

	if (!lost)
		return;
	const int size = snprintf(text, sizeof(text),
				  "functrace: warning: messages that were dropped, because standard error was not read "
				  "in time: %" PRIu64 "\n",
				  lost);
	pump_show(pump, text, (size_t)size);
}

static void *pump_work(void *context)
{
	static char bytes[1 << 16];
	struct pump *const pump = context;

	for (;;) {
		struct pollfd fds[] = {{.fd = pump->out, .events = POLLIN}, {.fd = pump->wake, .events = POLLIN}};
		const bool is_over = atomic_load(&pump->is_over);
		const ssize_t got = read(pump->out, bytes, sizeof(bytes));

		if (got > 0) {
			pump_show(pump, bytes, (size_t)got);
			continue;
		}
		show_lost_messages(pump);
		if (is_over)
			break;
		poll(fds, ARRAY_SIZE(fds), -1);
	}
	eventfd_write(pump->done, 1);
	return NULL;
}

int pump_start(struct pump *pump)
{
	pump->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pump->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (pump->wake < 0 || pump->done < 0)
		return -errno;
	/* All signals are blocked in the thread, because the main thread handles the signals of the visible process,
	 * and the SIGTTOU that a background write to a terminal raises would stop the target as well. */
	const int error = thread_start_masked(&pump->thread, NULL, pump_work, pump);

	if (!error)
		pump_enter(pump);
	errno = error;
	return -error;
}

void pump_end(struct pump *pump)
{
	atomic_store(&pump->is_over, true);
	eventfd_write(pump->wake, 1);
}

bool pump_is_stuck(const struct pump *pump, uint64_t since)
{
	const uint64_t waits_at = atomic_load(&pump->waits_at), now = clock_ns(CLOCK_MONOTONIC);
	struct pollfd room = {.fd = pump->to, .events = POLLOUT};

	/* If there is room, the thread waits for a CPU, not for the terminal. */
	return waits_at && now - waits_at > STUCK_NS && now - since > STUCK_NS && poll(&room, 1, 0) == 0;
}

void pump_close(struct pump *pump, bool has_ended)
{
	dup2(pump->to, STDERR_FILENO);
	msg_set_direct();
	if (has_ended)
		pthread_join(pump->thread, NULL);
}
