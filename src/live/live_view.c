#include "config.h"
#include "live/view_rows.h"
#include "base/fd_message.h"
#include "base/msg.h"
#include "base/util.h"
#include "engine/view_message.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Adds a process: as the first one if is_named is true (-t names the process), else as the last one. Returns false and
 * sets errno if no thread can be created. */
static bool live_view_add_process(struct view *view, int fd, struct reader *reader, bool is_named)
{
	struct names_options names = *view->options->names;

	names.shares = view->names;
	struct watched *const watched = watched_new(fd, reader, view->options->pid, view->profile, &names, &view->lock);

	if (!watched)
		return false;
	pthread_mutex_lock(&view->lock);
	ARRAY_GROW(view->processes, view->process_capacity, view->process_count);
	const size_t at = is_named ? 0 : view->process_count;

	memmove(view->processes + at + 1, view->processes + at, (view->process_count - at) * sizeof(*view->processes));
	view->processes[at] = watched;
	view->process_count++;
	pthread_mutex_unlock(&view->lock);
	return true;
}

struct traces {
	struct view *view;
	int socket;
};

static void take_trace(struct view *view, const struct view_message *message, int fd)
{
	/* If this process has too many open files, the kernel has dropped the descriptor. */
	const bool is_there = fd >= 0 && live_view_add_process(view, fd, NULL, message->is_named);

	pthread_mutex_lock(&view->lock);
	view->unseen += message->unseen + (message->has_trace && !is_there);
	pthread_mutex_unlock(&view->lock);
}

static void *take_traces(void *context)
{
	const struct traces *const traces = context;
	struct pollfd socket = {.fd = traces->socket, .events = POLLIN};
	struct view_message message;
	int fd, got = -EAGAIN;

	while (got) {
		poll(&socket, 1, -1);
		while ((got = fd_message_receive(traces->socket, &message, sizeof(message), &fd)) > 0)
			take_trace(traces->view, &message, fd);
	}
	pthread_mutex_lock(&traces->view->lock);
	traces->view->has_all = true;
	pthread_mutex_unlock(&traces->view->lock);
	return NULL;
}

static void live_view_begin(struct view *view, const struct live_options *options)
{
	*view = (struct view){
		.options = options, .profile = profile_new(), .names = names_new(options->names), .scan_reason = ""};
	pthread_mutex_init(&view->lock, NULL);
}

static int no_thread(struct view *view, int error)
{
	msg_error("the live view cannot start a thread: %s", strerror(error));
	view_free(view);
	return EXIT_FAILURE;
}

static int live_view_show(struct view *view)
{
	const int status = isatty(STDOUT_FILENO) ? live_screen(view) : live_lines(view);
	const char *reason;

	/* A thread may be blocked in reading a trace that does not end, so exit without freeing memory. */
	if (!view_has_ended(view, &reason))
		_exit(status);
	return status;
}

/* Returns false after a message if an ended trace was not read to its end, or does not have the process to show. */
static bool has_read_all(struct view *view)
{
	const struct live_options *const options = view->options;
	const char *reason;

	if (!view_has_ended(view, &reason))
		return true;
	if (reason)
		msg_error("%s: %s", options->input_name, reason);
	else if (options->pid && !view->processes[0]->account.has_process)
		msg_error("%s has no process %" PRIu32, options->input_name, options->pid);
	else
		return true;
	return false;
}

int live_run(struct reader *reader, const struct live_options *options)
{
	struct view view;

	live_view_begin(&view, options);
	view.has_all = true;
	if (!live_view_add_process(&view, -1, reader, true))
		return no_thread(&view, errno);
	const int shown = live_view_show(&view);
	const int status = has_read_all(&view) ? shown : EXIT_FAILURE;

	view_free(&view);
	return status;
}

#define LOOK_MS 20

/* Waits until the trace of some process has begun. Returns false if all traces have ended before. */
static bool wait_for_first(struct view *view)
{
	const char *reason;

	for (;;) {
		bool has_begun = false;

		pthread_mutex_lock(&view->lock);
		for (size_t i = 0; i < view->process_count; i++)
			has_begun |= view->processes[i]->account.has_process;
		pthread_mutex_unlock(&view->lock);
		if (has_begun || view_has_ended(view, &reason))
			return has_begun;
		nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000}, NULL);
	}
}

int live_run_all(int socket, const struct live_options *options)
{
	struct view view;
	struct traces traces = {&view, socket};
	pthread_t thread;

	fds_raise_limit();
	live_view_begin(&view, options);
	const int error = pthread_create(&thread, NULL, take_traces, &traces);

	if (error)
		return no_thread(&view, error);
	const int status = wait_for_first(&view) ? live_view_show(&view) : EXIT_FAILURE;
	const char *reason;

	if (view_has_ended(&view, &reason) && reason)
		msg_warn("%s: %s", options->input_name, reason);

	pthread_join(thread, NULL);
	view_free(&view);
	return status;
}
