#include "config.h"
#include "record/view_pipe.h"
#include "record/run.h"
#include "base/fd_message.h"
#include "engine/engine.h"
#include "engine/view_message.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Size of the first trace's pipe, in bytes. Other pipes keep the default size, because the kernel limits the total size
 * of each user's pipes. */
#define FIRST_SIZE (1 << 20)

int view_pipe_open(struct trace *trace)
{
	struct trace_files *const files = &trace->run->files;
	int ends[2];

	trace->output.path = xstrdup(trace->run->set->trace.output);
	trace->output.has_file = false;
	if (pipe2(ends, O_CLOEXEC)) {
		const int error = errno;

		files->unseen++;
		view_pipe_pass(trace);
		return -error;
	}
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	if (!files->first)
		fcntl(ends[1], F_SETPIPE_SZ, FIRST_SIZE);
	files->first = trace->pid;
	trace->output.view_end = ends[0];
	view_pipe_pass(trace);
	return ends[1];
}

void view_pipe_pass(struct trace *trace)
{
	struct trace_files *const files = &trace->run->files;
	const struct view_message message = {.has_trace = trace->output.view_end >= 0,
					     .is_named = trace->origin.attached_to,
					     .unseen = files->unseen};

	if (!message.has_trace && !message.unseen)
		return;
	const int error =
		fd_message_send(trace->run->set->trace.output_fd, &message, sizeof(message), trace->output.view_end);

	if (error == -EAGAIN || error == -ETOOMANYREFS) {
		engine_want_tick(trace->run->engine);
		return;
	}
	if (!error)
		files->unseen = 0;
	else
		files->unseen += message.has_trace;
	if (message.has_trace)
		close(trace->output.view_end);
	trace->output.view_end = -1;
}

bool view_pipe_may_wait(struct trace *trace)
{
	view_pipe_pass(trace);
	if (trace->output.view_end >= 0)
		return false;
	for (const struct trace *other = trace->run->traces; other; other = other->next)
		if (other != trace && other->output.writer)
			return false;
	return true;
}

void view_pipe_end(struct trace *trace)
{
	if (trace->output.view_end < 0)
		return;
	trace->run->files.unseen++;
	close(trace->output.view_end);
	trace->output.view_end = -1;
	view_pipe_pass(trace);
}
